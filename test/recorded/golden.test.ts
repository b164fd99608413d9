import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectors } from '../../src/collectors/registry.ts';
import { createTestPoller } from '../support/poller.ts';
import { startReplayServer } from '../support/replay-server.ts';
import { seriesOf } from '../support/samples.ts';

const inClone = fileURLToPath(new URL('exchanges', import.meta.url));
const besideClone = fileURLToPath(new URL('../../../shared/recorded', import.meta.url));
if (!existsSync(besideClone))
  console.warn('NOT RUN: the golden page from the full recordings, which are not beside this clone');

/** The page after one run of every collector against the recorded exchanges, replayed over TLS. */
async function givenPage(directory: string): Promise<string> {
  const server = await startReplayServer({ directory });
  const startedAt = performance.now();
  const now = (): number => Date.parse('2026-11-20T21:00:00Z') + performance.now() - startedAt;
  const watched = createTestPoller(server, { apiKey: server.apiKey, parts: { now } });
  onTestFinished(async () => {
    await watched.close();
    await server.close();
  });
  for (const { name, enabled } of collectors) if (enabled) await watched.poller.run(name);
  // Parts that depend on the speed of this machine or the time of the recording are left out.
  const varies =
    /^(# (HELP|TYPE) )?zlb_(api_|appliance_clock_offset|collector_duration|collector_last_\w+_timestamp|exporter_series )/;
  return (await watched.page())
    .split('\n')
    .filter((line) => !varies.test(line) && !/^zlb_collector_(errors|skipped)_total\{.* 0$/.test(line))
    .join('\n');
}

describe('the recorded appliance, replayed over TLS', () => {
  it('yields the golden page, from the exchanges in this clone', async () => {
    const page = await givenPage(inClone);

    await expect(page).toMatchFileSnapshot('../golden/noid-ce-01.prom');
  });

  it.skipIf(!existsSync(besideClone))('yields the same page from the full recordings', async () => {
    const page = await givenPage(besideClone);

    await expect(page).toMatchFileSnapshot('../golden/noid-ce-01.prom');
  });

  it('has ten farms in all six states, fifteen backends, five certificates and a signing request', async () => {
    const page = await givenPage(inClone);

    const current = seriesOf(page, 'zlb_farm_status').filter((line) => line.endsWith(' 1'));
    expect(current).toHaveLength(10);
    expect(new Set(current.map((line) => /status="([^"]*)"/.exec(line)?.[1]))).toEqual(
      new Set(['up', 'down', 'problem', 'critical', 'maintenance', 'needed_restart']),
    );
    expect(seriesOf(page, 'zlb_backend_info')).toHaveLength(15);
    expect(seriesOf(page, 'zlb_certificate_info', { kind: 'certificate' })).toHaveLength(5);
    expect(seriesOf(page, 'zlb_certificate_info', { kind: 'csr' })).toHaveLength(1);
  });
});
