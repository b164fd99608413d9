import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HistoryRequestHandler } from '../../../src/history/request-handler.ts';
import { givenFolder } from '../../support/folder.ts';

it('a damaged file is reported with a remedy, and a replacement is used', async () => {
  const file = join(givenFolder(), 'history.db');
  const first = new HistoryRequestHandler(file);
  await first.handle({ do: 'farms' });
  await first.handle({ do: 'close' });
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.from(whole).fill(0xa5, 100));
  const damaged = new HistoryRequestHandler(file);

  const { failure } = await damaged.handle({ do: 'farms' });
  writeFileSync(file, whole);

  expect(failure).toContain(file);
  expect(failure).toMatch(/malformed; move it away with its -wal, and restart the exporter to begin another one$/);
  expect(await damaged.handle({ do: 'farms' })).toMatchObject({ farms: [] });
});
