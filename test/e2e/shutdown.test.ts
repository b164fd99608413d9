import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { recordsOf } from '../support/journal-file.ts';
import { runExporter } from '../support/process.ts';
import { recordedWithoutProbes } from '../support/simulated-farms.ts';
import { until } from '../support/until.ts';

const apiKey = 'canary-key-of-the-appliance';
const scrape = 'GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n';

it('the exporter stops with 0 in time during 200 scrapes, gateway calls and polls, with an intact audit', async () => {
  const appliance = await startSimulatedAppliance({ world: recordedWithoutProbes(), apiKey });
  onTestFinished(() => appliance.close());
  const folder = givenFolder();
  const journalFile = join(folder, 'journal.db');
  const { token, sha256 } = makeToken();
  const polls = { farms: '*/1 * * * * *', certificates: '*/1 * * * * *' };
  const exporter = await startAdminExporter(
    // By several names: calls to one appliance wait for each other.
    writeAdminConfig(folder, { appliance, names: ['lb-1', 'lb-2', 'lb-3'], apiKey, sha256, journalFile, polls }),
  );
  const leaving = new AbortController();
  const write = (name: string, signal?: AbortSignal) =>
    fetch(`${exporter.adminUrl}/appliances/${name}/monitoring/fg`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `check-${name}` }),
      signal: signal ?? null,
    }).then(
      ({ status, headers }) => ({ status, id: headers.get('x-request-id') }),
      () => 'cut off' as const,
    );
  const answered = await write('lb-1');
  appliance.fail('*', { kind: 'hang' });
  // One of the two callers leaves: its call is still in progress.
  const hanging = [write('lb-2'), write('lb-3', leaving.signal)];
  const slow = Array.from({ length: 40 }, () => givenSlowReader(exporter.metricsUrl));
  await Promise.all(slow);
  const scrapes = Array.from({ length: 160 }, () =>
    fetch(`${exporter.metricsUrl}/metrics`).then(
      async (response) => (await response.text()).length,
      () => 'cut off' as const,
    ),
  );
  await until(
    async () => (await recordsOf(journalFile)).filter(({ event }) => event === 'intent').length,
    (intents) => intents === 3,
  );
  await until(
    () => appliance.sleeping,
    (sleeping) => sleeping >= 3,
  );
  leaving.abort();

  const startedAt = performance.now();
  const code = await exporter.stop('SIGTERM');
  const ms = performance.now() - startedAt;
  await Promise.all([...scrapes, ...hanging]);
  const verified = await runExporter(['audit', 'verify', journalFile]);

  console.log(`shutdown: 200 scrapes, 2 calls and the polls of 3 appliances under way, stopped in ${ms.toFixed(0)} ms`);
  expect(code).toBe(0);
  expect(ms).toBeLessThan(5_000);
  expect(exporter.log().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(' is intact: ') as string, stderr: '' });
  const lines = await recordsOf(journalFile);
  const requestsOf = (event: string) => lines.filter((line) => line.event === event).map(({ request }) => request);
  expect(answered).toMatchObject({ id: expect.any(String) as string });
  expect(requestsOf('intent')).toHaveLength(3);
  expect(requestsOf('outcome')).toHaveLength(3);
  // The outcome of each is known, also of those that were cut off.
  expect(new Set(requestsOf('outcome'))).toEqual(new Set(requestsOf('intent')));
});

/** Asks for more than a socket holds, and reads nothing of it. */
async function givenSlowReader(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(scrape.repeat(20));
}
