import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HistoryService } from '../../../src/history/history-service.ts';
import { givenFolder } from '../../support/folder.ts';

it('a damaged file is reported with a remedy, and a replacement is used', async () => {
  const file = join(givenFolder(), 'history.db');
  const first = new HistoryService(file);
  await first.answer({ do: 'farms' });
  await first.answer({ do: 'close' });
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.from(whole).fill(0xa5, 100));
  const damaged = new HistoryService(file);

  const { failure } = await damaged.answer({ do: 'farms' });
  writeFileSync(file, whole);

  expect(failure).toContain(file);
  expect(failure).toMatch(/malformed; move it away with its -wal, and restart the exporter to begin another one$/);
  expect(await damaged.answer({ do: 'farms' })).toMatchObject({ farms: [] });
});
