import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HistoryKeeper } from '../../../src/history/keeper.ts';
import { givenFolder } from '../../support/folder.ts';

it('a damaged file is reported with a remedy, and a replacement is used', async () => {
  const file = join(givenFolder(), 'history.db');
  const first = new HistoryKeeper(file);
  await first.answer({ do: 'farms' });
  await first.answer({ do: 'close' });
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.from(whole).fill(0xa5, 100));
  const damaged = new HistoryKeeper(file);

  const { failure } = await damaged.answer({ do: 'farms' });
  writeFileSync(file, whole);

  expect(failure).toContain(file);
  expect(failure).toMatch(/malformed; move it away with its -wal, and restart the exporter to begin another one$/);
  expect(await damaged.answer({ do: 'farms' })).toMatchObject({ farms: [] });
});
