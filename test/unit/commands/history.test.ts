import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { listening } from '../../support/listening.ts';
import { givenContext } from './given-command.ts';

async function run(words: readonly string[], url?: string) {
  const { context, said, warned, written } = givenContext({ env: url === undefined ? {} : { ZLB_EXPORTER_URL: url } });
  const code = await runCommandLine(['history', ...words], context);
  return { code, said, warned: warned.join('\n'), written: Buffer.concat(written).toString() };
}

/** A server that gives this answer, and the address that it was asked for last. */
async function givenServer(answer: string, status = 200) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status).end(answer);
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, asked };
}

const weight = { object: 'backend', farm: 'shop', service: 'web', name: '10.0.0.1:80', setting: 'weight' };
const atMs = Date.UTC(2026, 10, 21, 2, 20, 1);
const event = { id: 1, kind: 'configuration', appliance: 'lb-1', farm: 'shop', atMs, count: 1, differences: [] };
const events = [
  { ...event, kind: 'reload', appliance: '', farm: '', text: 'configuration reloaded' },
  { ...event, kind: 'change', text: 'Modify a backend: HTTP 200', by: 'change ch-1 by alice' },
  {
    ...event,
    sinceMs: atMs - 600_000,
    by: 'elsewhere',
    count: 12,
    reversedMs: atMs - 60_000,
    unlisted: 3,
    differences: [
      { ...weight, before: '1', after: '5' },
      { ...weight, name: '10.0.0.2:80', setting: '', before: 'weight 1' },
    ],
  },
  { ...event, sinceMs: atMs - 86_400_000, text: 'found after a day' },
];

it('history prints a table: when, where, what, before and after, by whom', async () => {
  const { url, asked } = await givenServer(JSON.stringify({ events }));

  const { code, said } = await run(['farm=shop', 'lb-1', '--since=2h'], url);

  expect(code).toBe(0);
  expect(said.map((line) => line.split(/ {2,}/))).toEqual([
    ['SEEN (UTC)', 'COUNT', 'WHERE', 'WHAT', 'BEFORE → AFTER', 'BY'],
    ['2026-11-21 02:20:01', 'the exporter', 'configuration reloaded'],
    ['2026-11-21 02:20:01', 'lb-1/shop', 'Modify a backend: HTTP 200', 'change ch-1 by alice'],
    [
      '2026-11-21 02:10:01 to 02:20:01',
      '12',
      'lb-1/shop',
      'backend 10.0.0.1:80 of web',
      'weight: 1 → 5 (last reversed at 2026-11-21 02:19:01)',
      'elsewhere',
    ],
    ['', 'lb-1/shop', 'backend 10.0.0.2:80 of web', 'gone: weight 1'],
    ['', 'lb-1/shop', 'and 3 more'],
    ['2026-11-20 02:20:01 to 2026-11-21 02:20:01', 'lb-1/shop', 'found after a day'],
  ]);
  expect(asked).toEqual(['/api/history?since=2h&farm=shop&appliance=lb-1&limit=1000']);
});

it('history prints the response of the exporter as JSON', async () => {
  const answer = JSON.stringify({ events });
  const { url } = await givenServer(answer);

  expect(await run(['--json'], url)).toMatchObject({ code: 0, said: [], written: `${answer}\n` });
});

it('history says when there are no events', async () => {
  const { url } = await givenServer(JSON.stringify({ events: [] }));

  expect(await run([], url)).toMatchObject({ code: 0, said: ['No changes are known.'], warned: '' });
});

it('history says that changes may be missing, also in its JSON, once the exporter lost some', async () => {
  const answer = JSON.stringify({ events: [], lost: 12 });
  const { url } = await givenServer(answer);

  const table = await run([], url);
  const json = await run(['--json'], url);

  expect(table).toMatchObject({ code: 0, said: ['No changes are known.'] });
  expect(table.warned).toContain('12 readings or events');
  expect(json.written).toBe(`${answer}\n`);
});

it('history pages through all of 1,000 events, and says that there are more', async () => {
  const some = Array.from({ length: 300 }, () => event);
  const { url, asked } = await givenServer(JSON.stringify({ events: some, next: '7.3' }));

  const { said, warned } = await run([], url);

  expect(asked).toEqual([
    '/api/history?limit=1000',
    '/api/history?limit=700&before=7.3',
    '/api/history?limit=400&before=7.3',
    '/api/history?limit=100&before=7.3',
  ]);
  expect(said.length).toBeGreaterThan(1_000);
  expect(warned).toMatch(/only the newest \d+ events; name an appliance, or give --since/);
});

it('history removes terminal controls from names', async () => {
  const hostile = '\u001b]0;owned\u0007\u009b2J\nfine';
  const whole = { ...weight, farm: hostile, service: hostile, name: hostile, setting: hostile, after: hostile };
  const { url } = await givenServer(
    JSON.stringify({ events: [{ ...event, appliance: hostile, by: hostile, differences: [whole] }] }),
  );

  const { said } = await run([], url);

  expect(said).toHaveLength(2);
  expect(said.join('')).not.toMatch(/\p{Cc}/u);
});

it.each<[answer: string, status: number, words: readonly string[], says: string]>([
  ['', 401, [], 'asks for a password; give --exporter.user-file, a file with user:password'],
  ['No appliance of that name', 404, ['lb-9'], 'does not watch an appliance lb-9'],
  ['Not found.', 404, [], '(404): check the host, the port and the path of --exporter.url'],
  ['The history cannot be read;\nsee the log.\n', 503, [], 'answered 503: The history cannot be read; see the log.'],
  ['<html>', 200, [], 'what answers is not an exporter: it does not speak JSON'],
  [
    '{"events":[{"farm":1}]}',
    200,
    [],
    'what answers is not a zlb-exporter of this version: /events/0/appliance is not a text',
  ],
])('history exits with 1 and a reason for the response %j', async (answer, status, words, says) => {
  const { url } = await givenServer(answer, status);

  const { code, said, warned } = await run(words, url);

  expect({ code, said }).toEqual({ code: 1, said: [] });
  expect(warned).toContain(says);
  expect(warned).toMatch(/^zlb-exporter: [^\n]+; history --help explains --exporter.url and its flags$/);
});

it('history exits with 1 if nothing responds', async () => {
  expect(await run(['--exporter.url=http://127.0.0.1:1'])).toMatchObject({
    code: 1,
    warned: expect.stringContaining('the exporter at http://127.0.0.1:1 did not respond') as string,
  });
});

it.each([
  [['lb-1', 'lb-2'], 'history takes one appliance and one farm'],
  [['farm=a', 'farm=b'], 'history takes one appliance and one farm'],
  [['lb-1', 'since=2h'], 'history takes one appliance and one farm'],
  [['farm='], 'history takes one appliance and one farm'],
  [['--since=soon'], '--since must be a duration such as 2h, or a moment in ISO 8601'],
  [['--config.file=x'], 'is for the exporter itself'],
  [['--warning=3'], '--warning is only valid with zlb-exporter plugin'],
  [['--exporter.url=ftp://x'], 'must be a URL'],
])('history refuses %j', async (words, says) => {
  const { code, said, warned } = await run(words);

  expect({ code, said }).toEqual({ code: 2, said: [] });
  expect(warned).toContain(says);
});
