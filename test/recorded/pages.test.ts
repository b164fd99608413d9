import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { asOpenMetrics, withTwin } from './derived-pages.ts';
import { type Configure, givenRecordedExporter } from './given-recorded.ts';
import { until } from '../support/until.ts';

const minuteMs = 60_000;
const openMetrics = { accept: 'application/openmetrics-text; version=1.0.0' };

/** Families about the exporter itself. */
const bookkeeping = /^(?:# (?:HELP|TYPE) )?(?:zlb_(?:collector|api|exporter|transitions)(?:_| )|process_|nodejs_)/;
/** Samples whose values depend on the machine and the moment. */
const varying = /^(zlb_\w*(?:duration_seconds|_timestamp_seconds|clock_offset_seconds|busy_seconds_total)\S*) \S+$/;
const ownTimes = /^zlb_(?:collector|exporter|api)_|clock_offset/;

/** The page without bookkeeping, with `~` for what depends on the machine. */
function stable(page: string): string {
  return page
    .split('\n')
    .filter((line) => !bookkeeping.test(line))
    .map((line) => (ownTimes.test(line) ? line.replace(varying, '$1 ~') : line))
    .join('\n');
}

/** Collects every line that prom-client writes. */
function linesOfPromClient(): ReadonlySet<string> {
  const lines = new Set<string>();
  const noted = (text: string): string => {
    for (const line of text.split('\n')) lines.add(line);
    return text;
  };
  const { getSingleMetricAsString, metrics } = Registry.prototype;
  vi.spyOn(Registry.prototype, 'getSingleMetricAsString').mockImplementation(async function (this: Registry, name) {
    return noted(await getSingleMetricAsString.call(this, name));
  });
  vi.spyOn(Registry.prototype, 'metrics').mockImplementation(async function (this: Registry) {
    return noted(await metrics.call(this));
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return lines;
}

/** The configuration of one appliance. */
const one =
  (settings: object = {}): Configure =>
  (entry) => ({ appliances: [entry('lb-one')], ...settings });

describe('the page of a recorded appliance', () => {
  it('has no sample line that prom-client did not write', async () => {
    const written = linesOfPromClient();
    const given = await givenRecordedExporter(one());

    const samples = (await given.get('/metrics')).split('\n').filter((line) => /^[^#]/.test(line));

    expect(samples.length).toBeGreaterThan(300);
    expect(samples.filter((line) => !written.has(line))).toEqual([]);
  });

  it.each<readonly [what: string, golden: string, configure: Configure, unlicensed: boolean]>([
    [
      'leaves out whole families above the series limit',
      'series-limit',
      one({ limits: { series_per_appliance: 200 } }),
      false,
    ],
    [
      'lists only backends in trouble in compact mode',
      'compact',
      (entry) => ({ appliances: [entry('lb-one', { compact: true })] }),
      false,
    ],
    ['shows the activation alone of an appliance that refuses all else with 402', 'unlicensed', one(), true],
  ])('%s', async (_, golden, configure, unlicensed) => {
    const given = await givenRecordedExporter(configure, { unlicensed });

    await expect(stable(await given.get('/metrics'))).toMatchFileSnapshot(`../golden/${golden}.prom`);
  });

  it('shows two appliances family by family, and the same for one of them in each kind of request', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one'), entry('lb-two')] }));
    const ofOne = '/metrics?appliance=lb-one';

    const probed = await given.get('/probe?target=lb-one');

    const fresh = stable(await given.get(ofOne));
    await expect(fresh).toMatchFileSnapshot('../golden/fresh.prom');
    expect(stable(probed)).toBe(fresh);
    expect(stable(await given.get('/metrics'))).toBe(withTwin(fresh));
    expect(stable(await given.get(ofOne, openMetrics))).toBe(asOpenMetrics(fresh));
    expect(probed).not.toMatch(/^(?:process|nodejs)_|lb-two|zlb_exporter_build_info/m);
  });

  it('shows the same facts on /api/status, and evicts stale readings there and on /metrics', async () => {
    const given = await givenRecordedExporter(one());
    const status = async () => {
      const shown: unknown = JSON.parse(await given.get('/api/status'), (key, value: unknown) =>
        ['lastSuccessMs', 'configuredAtMs', 'usersReadMs', 'readMs', 'url', 'apiCertificate'].includes(key)
          ? '~'
          : value,
      );
      return `${JSON.stringify(shown, undefined, 2)}\n`;
    };
    await expect(await status()).toMatchFileSnapshot('../golden/status.json');

    // A jump of ten seconds would have everything read again.
    for (let passedMs = 0; passedMs < 10 * minuteMs; passedMs += 8_000) {
      given.pass(8_000);
      await given.get('/metrics');
    }

    const page = await until(
      () => given.get('/metrics'),
      (seen) => !seen.includes('zlb_farm_status{'),
    );
    await expect(stable(page)).toMatchFileSnapshot('../golden/stale.prom');
    await expect(await status()).toMatchFileSnapshot('../golden/status-stale.json');
  });

  it('keeps the readings over a reload that changes labels', async () => {
    const given = await givenRecordedExporter(one());
    const before = stable(await given.get('/metrics'));

    await given.reload({ appliances: [given.entry('lb-one', { labels: { site: 'paris' } })] });

    const page = await until(
      () => given.get('/metrics'),
      (seen) => seen.includes('site="paris"'),
    );
    expect(stable(page)).toBe(before.replace(/^zlb_appliance_info\{[^}]*(?=\})/m, '$&,site="paris"'));
  });
});

it.each([
  [13, 'with ten farms', {}],
  [9, 'that never answered', { url: 'https://127.0.0.1:9' }],
])(
  'the exporter has at most %i series about itself for each collector of an appliance %s',
  async (most, _, settings) => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one', settings)] }));

    const page = await given.get('/metrics');

    const count = (pattern: RegExp): number => page.match(pattern)?.length ?? 0;
    const own = /^zlb_(?:collector_|api_|transitions_|circuit_breaker_|exporter_series).*appliance="lb-one"/gm;
    expect(count(own) / count(/^zlb_collector_interval_seconds.*appliance="lb-one"/gm)).toBeLessThanOrEqual(most);
  },
);
