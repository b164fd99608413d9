import { expect, it, onTestFinished, vi } from 'vitest';
import { createSelfMetrics } from '../../../src/metrics/self.ts';
import { parseExposition } from '../../support/exposition-parser.ts';

const build = { version: '1.2.3', revision: 'abc', nodeVersion: 'v24.0.0' };

it("the exporter's own metrics have version, start and configuration, which appear at once", async () => {
  const self = createSelfMetrics(build);
  const before = await self.text();

  self.recordLoaded(1_700_000_000_500);

  const text = await self.text();
  expect(text).toContain('zlb_exporter_build_info{version="1.2.3",revision="abc",node_version="v24.0.0"} 1\n');
  expect(before).toContain('zlb_exporter_config_last_reload_successful 0\n');
  expect(text).toContain('zlb_exporter_config_last_reload_successful 1\n');
  expect(text).toContain('zlb_exporter_config_last_reload_success_timestamp_seconds 1700000000.5\n');
});

it("the exporter's own metrics have the expiry of current certificates and tokens, and of no replaced ones", async () => {
  const self = createSelfMetrics(build);
  const token = (principal: string, endsAtMs: number) => ({ kind: 'token', principal, endsAtMs }) as const;
  self.setCredentials([token('alice', 1_900_000_000_000), token('bob', 1_800_000_000_000)]);

  self.setCredentials([token('alice', 2_000_000_000_000)]);

  const ends = (await self.text()).match(/^zlb_exporter_credential.*$/gm);
  expect(ends).toEqual([
    'zlb_exporter_credential_not_after_timestamp_seconds{credential="token",principal="alice"} 2000000000',
  ]);
});

it("the exporter's own metrics write NaN as Prometheus does, also before the first measurement", async () => {
  expect(await createSelfMetrics(build).text()).not.toMatch(/ Nan$/m);
});

it("the exporter's own metrics have no gauge with the name of a counter, and no list of handles", async () => {
  const families = parseExposition(await createSelfMetrics(build).text(), 'text');

  expect(families.filter(({ name, type }) => name.endsWith('_total') && type !== 'counter')).toEqual([]);
  expect(families.filter(({ name }) => name.startsWith('nodejs_active_'))).toEqual([]);
});

it('the process metrics are shared by scrapes within a second, so that none resets the next', async () => {
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const self = createSelfMetrics(build);
  const ofProcess = async () => (await self.text()).match(/^(?:process|nodejs)_.*$/gm);

  const first = await ofProcess();
  const second = await ofProcess();
  // The difference of two such numbers may be a little less than what was added.
  nowMs += 1_001;
  const later = await ofProcess();

  expect(second).toEqual(first);
  expect(later).not.toEqual(first);
});
