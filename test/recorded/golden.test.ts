import { describe, expect, it, onTestFinished } from 'vitest';
import type { Collector } from '../../src/collectors/collector.ts';
import { ipdsCollector } from '../../src/collectors/ipds.ts';
import { collectors } from '../../src/collectors/registry.ts';
import { createTestPoller, polled, scheduled } from '../support/poller.ts';
import { hasRecordings, recordedProducts } from '../support/recordings.ts';
import { startReplayServer } from '../support/replay-server.ts';
import { seriesOf } from '../support/samples.ts';

const [relianoid, skudonet, zevenet] = [
  { ...recordedProducts[0], recordedAt: '2026-11-20T21:00:00Z', golden: '../golden/noid-ce-01.prom' },
  { ...recordedProducts[1], recordedAt: '2026-11-23T14:00:00Z', golden: '../golden/skudonet-ce-01.prom' },
  { ...recordedProducts[2], recordedAt: '2026-11-28T18:10:00Z', golden: '../golden/zevenet-ce-01.prom' },
];
const enabled = polled;

/** The page after one run of these collectors against the recorded exchanges, replayed over TLS. */
async function givenPage(
  directory: string,
  recordedAt: string,
  used: readonly Collector[] = enabled,
  alter: Parameters<typeof startReplayServer>[0] = {},
): Promise<string> {
  const server = await startReplayServer({ directory, ...alter });
  const startedAt = performance.now();
  const now = (): number => Date.parse(recordedAt) + performance.now() - startedAt;
  const watched = createTestPoller(server, { apiKey: server.apiKey, parts: { now, collectors: scheduled(used) } });
  onTestFinished(() => watched.close());
  for (const { name } of used) await watched.poller.run(name);
  // Parts that depend on the speed of this machine or the time of the recording are left out.
  const varies =
    /^(# (HELP|TYPE) )?zlb_(api_|appliance_clock_offset|collector_duration|collector_last_\w+_timestamp|exporter_series )/;
  return (await watched.page())
    .split('\n')
    .filter((line) => !varies.test(line) && !/^zlb_collector_(errors|skipped)_total\{.* 0$/.test(line))
    .join('\n');
}

describe.each([relianoid, skudonet, zevenet])('the recorded $product, replayed over TLS', (recorded) => {
  const { product, clone, beside, recordedAt, golden } = recorded;

  it('yields the golden page, from the exchanges in this clone', async () => {
    await expect(await givenPage(clone, recordedAt)).toMatchFileSnapshot(golden);
  });

  if (!hasRecordings(beside)) console.warn(`NOT RUN: the golden page of ${product} from the full recordings`);
  it.skipIf(!hasRecordings(beside))('yields the same page from the full recordings', async () => {
    await expect(await givenPage(beside, recordedAt)).toMatchFileSnapshot(golden);
  });
});

it('an unknown product is read as far as it responds, and named unknown', async () => {
  const { clone, recordedAt } = zevenet;
  const known = await givenPage(clone, recordedAt);

  const unknown = await givenPage(clone, recordedAt, enabled, {
    alter: (body) => Buffer.from(body.toString().replaceAll('zevenet_version', 'acme_version')),
  });

  expect(unknown).toBe(known.replace('product="zevenet",version="5.13.0"', 'product="unknown",version="ZCE 5"'));
});

it('the response decides whether a Community Edition has intrusion prevention and VPNs', async () => {
  const used = collectors.filter(({ name }) => ['ipds', 'vpn'].includes(name));
  const pages = await Promise.all(
    [relianoid, skudonet].map(({ clone, recordedAt }) => givenPage(clone, recordedAt, used)),
  );

  const supported = pages.map((page) =>
    used.filter(({ name }) => seriesOf(page, 'zlb_collector_success', { collector: name }).length > 0),
  );
  expect(supported).toEqual([[collectors.find(({ name }) => name === 'vpn')], [ipdsCollector]]);
  expect(statesOf(pages[1] ?? '', 'zlb_ipds_rule_status')).toEqual(new Set(['up', 'down']));
});

function statesOf(page: string, family: string): ReadonlySet<string | undefined> {
  const current = seriesOf(page, family).filter((line) => line.endsWith(' 1'));
  return new Set(current.map((line) => /status="([^"]*)"/.exec(line)?.[1]));
}
