import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Format } from '../../../src/metrics/page.ts';
import { inFormat } from '../../../src/metrics/render.ts';
import { createSelfMetrics, type SelfMetrics } from '../../../src/metrics/self.ts';
import { parseExposition } from '../../support/exposition-parser.ts';

const build = { version: '1.2.3', revision: 'abc', nodeVersion: 'v24.0.0' };

describe("the exporter's own metrics", () => {
  it('have version, start and configuration', async () => {
    const self = createSelfMetrics(build);

    self.configurationLoaded(1_700_000_000_500);

    const text = await textOf(self, 'text');
    expect(text).toContain('zlb_exporter_build_info{version="1.2.3",revision="abc",node_version="v24.0.0"} 1\n');
    expect(text).toContain('zlb_exporter_config_last_reload_successful 1\n');
    expect(text).toContain('zlb_exporter_config_last_reload_success_timestamp_seconds 1700000000.5\n');
  });

  it('name the families of counters without _total in OpenMetrics, and with it in classic text, also after one another', async () => {
    const clock = givenClock();
    const self = createSelfMetrics(build);

    const [before, openmetrics] = [await textOf(self, 'text'), await textOf(self, 'openmetrics')];
    clock.passASecond();
    const after = await textOf(self, 'text');

    expect(openmetrics).toContain('# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total ');
    for (const classic of [before, after])
      expect(classic).toContain('# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ');
  });

  it('write NaN as Prometheus does, also before the first measurement', async () => {
    const self = createSelfMetrics(build);

    expect(await textOf(self, 'text')).not.toMatch(/ Nan$/m);
    expect(await textOf(self, 'openmetrics')).not.toMatch(/ Nan$/m);
  });

  it("have no gauge with a counter's name, and no list of handles", async () => {
    const families = parseExposition(await textOf(createSelfMetrics(build), 'text'), 'text');

    expect(families.filter(({ name, type }) => name.endsWith('_total') && type !== 'counter')).toEqual([]);
    expect(families.filter(({ name }) => name.startsWith('nodejs_active_'))).toEqual([]);
  });

  it('of the process are shared by scrapes within a second, in both formats, so that none resets the values of the next', async () => {
    const clock = givenClock();
    const self = createSelfMetrics(build);
    const samplesIn = async (format: Format) => (await textOf(self, format)).match(/^(?:process|nodejs)_.*$/gm);

    const first = await samplesIn('openmetrics');
    const second = await samplesIn('text');
    clock.passASecond();
    const later = await samplesIn('text');

    expect(second).toEqual(first);
    expect(later).not.toEqual(first);
  });

  it('of the configuration show at once', async () => {
    const self = createSelfMetrics(build);
    await textOf(self, 'text');

    self.configurationLoaded(1_000);

    expect(await textOf(self, 'text')).toContain('zlb_exporter_config_last_reload_success_timestamp_seconds 1\n');
  });

  it('of two exporters in one process are separate', async () => {
    createSelfMetrics(build).configurationLoaded(1_000);

    expect(await textOf(createSelfMetrics(build), 'text')).toContain('zlb_exporter_config_last_reload_successful 0\n');
  });
});

async function textOf(self: SelfMetrics, format: Format): Promise<string> {
  return inFormat(await self.text(), format);
}

/** A clock that moves only when a test says so. */
function givenClock() {
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  return { passASecond: () => void (nowMs += 1_000) };
}
