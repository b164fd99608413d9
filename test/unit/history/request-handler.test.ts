import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { HistoryRequestHandler } from '../../../src/history/request-handler.ts';
import { toStoredEvent } from '../../../src/history/stored-event.ts';
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

it('a damaged row that a search finds is reported with the next write, to be counted and logged', async () => {
  const file = join(givenFolder(), 'history.db');
  const first = new HistoryRequestHandler(file);
  const event = { kind: 'reload', appliance: '', farm: '', atMs: 0, text: 'reloaded', differences: [] } as const;
  await first.handle({ do: 'write', entries: [{ event: toStoredEvent(event) }] });
  await first.handle({ do: 'close' });
  const database = new DatabaseSync(file);
  database.exec("UPDATE events SET event = '[1]'");
  database.close();
  const handler = new HistoryRequestHandler(file);

  const found = await handler.handle({ do: 'find', query: { limit: 10 }, lost: undefined });
  const written = await handler.handle({ do: 'write', entries: [] });

  expect(found.found).toBe('{"events":[]}');
  expect(written.findings).toMatchObject({ damaged: 1, warnings: [expect.stringMatching(/^event 1 cannot be read/)] });
});
