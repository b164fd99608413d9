import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { createTestPoller } from '../support/poller.ts';
import { startHttpsServer, startTlsServer } from '../support/tls-server.ts';
import { until } from '../support/until.ts';

const json = { 'content-type': 'application/json' };
/** Longer than a breaker ever stays open. */
const pauseMs = 600_000;

interface Failing {
  readonly what: string;
  readonly url: URL;
  readonly fingerprintSha256: string;
  /** Forgets the requests that it keeps for tests of another kind. */
  readonly forget: () => void;
}

it('three thousand failed polls of every kind leak no descriptor, handle, listener or memory', async () => {
  const kinds = await everyWayToFail();
  const clock = { offsetMs: 0 };
  const now = (): number => Date.now() + clock.offsetMs;
  const watched = kinds.map(({ url, fingerprintSha256 }) =>
    createTestPoller(
      { url: url.href, fingerprintSha256 },
      {
        apiKey: 'canary-key',
        bodyBytes: 65_536,
        parts: {
          now,
          polling: {
            timeoutMs: 60,
            maxConcurrentPerAppliance: 1,
            maxBusyRatio: 1,
            routineBusyRatio: 1,
            jitterRatio: 0,
          },
        },
      },
    ),
  );
  onTestFinished(async () => void (await Promise.all(watched.map((each) => each.close()))));
  const warnings: string[] = [];
  const warned = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const failAll = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      clock.offsetMs += pauseMs;
      await Promise.all(watched.map(({ poller }) => poller.run('system')));
      for (const { forget } of kinds) forget();
    }
  };

  await failAll(60);
  const before = await settled();
  await failAll(375);
  const after = await settled(before);

  for (const [index, { what }] of kinds.entries()) {
    const page = (await watched[index]?.page()) ?? '';
    expect(page, what).toMatch(/zlb_up\{appliance="lb-test"\} 0/);
    // A run whose first probe fails is skipped.
    const failures = [...page.matchAll(/^zlb_collector_(?:errors|skipped)_total\{.*collector="system".*\} (\d+)$/gm)];
    expect(
      failures.reduce((sum, [, count]) => sum + Number(count), 0),
      what,
    ).toBe(435);
  }
  expect(warnings).toEqual([]);
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 2);
  expect(after.handles).toBeLessThanOrEqual(before.handles + 2);
  expect(after.heapBytes / before.heapBytes, 'heap, after over before').toBeLessThan(1.1);
});

async function everyWayToFail(): Promise<readonly Failing[]> {
  const answering = async (what: string, answer: (response: ServerResponse) => void): Promise<Failing> => {
    const { url, material, requests } = await startHttpsServer(answer);
    return { what, url, fingerprintSha256: material.fingerprintSha256, forget: () => (requests.length = 0) };
  };
  const refused = await startHttpsServer(() => undefined);
  await refused.close();
  const other = await startHttpsServer(() => undefined);
  const garbage = await startTlsServer((socket) => {
    // A socket that does not read does not notice that the other side is gone.
    socket.resume();
    socket.end('SSH-2.0-OpenSSH_9.2\r\n');
  });
  const forget = (): void => undefined;
  return [
    { what: 'refused', url: refused.url, fingerprintSha256: refused.material.fingerprintSha256, forget },
    { what: 'tls', url: other.url, fingerprintSha256: 'ab'.repeat(32), forget },
    { what: 'no HTTP', url: garbage.url, fingerprintSha256: garbage.material.fingerprintSha256, forget },
    await answering('reset', (response) => response.destroy()),
    await answering('hang', () => undefined),
    await answering('truncated', (response) => {
      response.writeHead(200, { ...json, 'content-length': '5000' }).write('{"farms":[');
      setImmediate(() => response.destroy());
    }),
    await answering('oversize', (response) => response.writeHead(200, json).end(`{"farms":"${'x'.repeat(70_000)}"}`)),
    await answering('status', (response) => response.writeHead(500, json).end('{"message":"down"}')),
  ];
}

/**
 * Returns the resources of the process after everything closed is gone; waits until they fall to
 * the previous number.
 */
async function settled(wanted?: { readonly descriptors: number; readonly handles: number }) {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const look = () => ({
    descriptors: readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo().filter((kind) => kind !== 'Timeout').length,
  });
  let last = look();
  const held = await until(look, (seen) => {
    const isFlat = seen.descriptors === last.descriptors && seen.handles === last.handles;
    last = seen;
    return isFlat && (!wanted || (seen.descriptors <= wanted.descriptors + 2 && seen.handles <= wanted.handles + 2));
  }).catch(look);
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...held, heapBytes: process.memoryUsage().heapUsed };
}
