import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { givenPrometheus } from '../support/monitoring.ts';
import { givenDemonstration } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const hasPrometheus = isThere('prometheus');
const demonstration = givenDemonstration();

it.skipIf(!hasPrometheus)('Prometheus stores the same series and types in each format that it requests', async () => {
  const { host } = new URL(demonstration.url());
  const jobs = settings().map(
    (setting, index) => `  - { job_name: zlb-${index}, static_configs: [{ targets: ['${host}'] }], ${setting} }`,
  );
  const prometheus = await givenPrometheus(
    `global: { scrape_interval: 1s, scrape_timeout: 1s }\nscrape_configs:\n${jobs.join('\n')}\n`,
  );
  await until(
    () => prometheus.query('count_over_time(up[1m]) > 5'),
    (seen) => seen.length === jobs.length,
  );

  expect(await prometheus.query('up != 1')).toEqual([]);
  // A series that appears between the scrapes of two jobs is in both a second later.
  await until(
    () => prometheus.query('count by (job) ({__name__=~"zlb_.+"})'),
    (counted) => counted.length === jobs.length && new Set(counted.map(({ value }) => value)).size === 1,
    20_000,
  );
  const response = await fetch(`${prometheus.url}/api/v1/targets/metadata?limit=100000`);
  const { data } = (await response.json()) as { data: readonly { metric: string; type: string }[] };
  expect(data.length).toBeGreaterThan(100);
  expect(data.filter(({ type }) => type === 'unknown')).toEqual([]);
  expect(prometheus.log().filter((line) => /level=(warn|error)/i.test(line))).toEqual([]);
});

/** Settings of a job for each format; Prometheus 2 asks for OpenMetrics, compressed. */
function settings(): readonly string[] {
  const isFirst = execFileSync('prometheus', ['--version'], { encoding: 'utf8' }).includes('version 2.');
  const protocols = ['PrometheusText0.0.4', 'OpenMetricsText1.0.0', 'PrometheusProto, OpenMetricsText1.0.0'];
  const chosen = protocols.flatMap((each) =>
    ['true', 'false'].map((isOn) => `scrape_protocols: [${each}], enable_compression: ${isOn}`),
  );
  return ['scheme: http', ...(isFirst ? [] : chosen)];
}
