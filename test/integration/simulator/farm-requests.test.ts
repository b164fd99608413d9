import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { requestLines, sendRequestLines } from '../../../simulator/farm-requests.ts';
import { listen } from '../../../simulator/listener.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { readLine } from '../../../src/requests/line.ts';

const nowMs = Date.UTC(2026, 10, 6, 4, 17, 34);

/** The same numbers from 0 to 1 in each run. */
function givenNumbers(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

it('logs what the exporter reads, of each running HTTP farm with backends', () => {
  const world = busyWorld(nowMs);
  const random = givenNumbers();
  const read = Array.from({ length: 100 }, () => requestLines(world, nowMs, random))
    .flat()
    .map(readLine);
  const answers = read.flatMap((line) => (typeof line !== 'string' && line.kind === 'answer' ? line : []));

  expect(answers).toHaveLength(read.length);
  expect(new Set(answers.map(({ farm }) => farm))).toEqual(new Set(['shop', 'intranet', 'legacy', 'payments']));
  // All its backends are down, so the proxy answers itself.
  expect(new Set(answers.filter(({ farm }) => farm === 'legacy').map(({ code }) => code))).toEqual(new Set(['503']));
  expect(new Set(answers.filter(({ service }) => service === 'api').map(({ backend }) => backend))).toEqual(
    new Set(['10.20.0.15:8081']),
  );
});

it('sends them to the remote syslog of the appliance, until it has none', async () => {
  const world = busyWorld(nowMs);
  const server = createServer();
  const { port, close } = await listen(server, '127.0.0.1', 0);
  onTestFinished(close);
  onTestFinished(sendRequestLines(world, { from: '127.0.0.1', now: () => nowMs }));
  const connections = once(server, 'connection') as Promise<[Socket]>;

  world.remoteSyslog = { ip: '127.0.0.1', port };
  const [socket] = await connections;
  const [line] = await once(createInterface({ input: socket }), 'line');
  expect(readLine(line)).toMatchObject({ kind: 'answer' });

  world.remoteSyslog = undefined;
  await once(socket, 'close');
});
