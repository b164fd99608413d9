import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { givenRecordedExporter } from './given-recorded.ts';
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

describe('pages of the recorded appliance', () => {
  it('have no sample line that prom-client did not write', async () => {
    const written = linesOfPromClient();
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    const samples = (await given.get('/metrics')).split('\n').filter((line) => /^[^#]/.test(line));

    expect(samples.length).toBeGreaterThan(300);
    expect(samples.filter((line) => !written.has(line))).toEqual([]);
  });

  it('shows every reading on a fresh page', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    await expect(stable(await given.get('/metrics'))).toMatchFileSnapshot('../golden/fresh.prom');
  });

  it('shows the same page gzip-compressed', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    await given.get('/metrics');
    const answer = await fetch(`${given.daemon.url}/metrics`, { headers: { 'accept-encoding': 'gzip' } });

    expect(answer.headers.get('content-encoding')).toBe('gzip');
    await expect(stable(await answer.text())).toMatchFileSnapshot('../golden/fresh.prom');
  });

  it('evicts stale readings after ten minutes and keeps those that may be older', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    given.pass(10 * minuteMs);

    const page = await until(
      () => given.get('/metrics'),
      (seen) => !seen.includes('zlb_farm_status{'),
    );
    await expect(stable(page)).toMatchFileSnapshot('../golden/stale.prom');
  });

  it('leaves out whole families above the series limit', async () => {
    const given = await givenRecordedExporter((entry) => ({
      appliances: [entry('lb-one')],
      limits: { series_per_appliance: 200 },
    }));

    await expect(stable(await given.get('/metrics'))).toMatchFileSnapshot('../golden/series-limit.prom');
  });

  it('lists only backends in trouble in compact mode', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one', { compact: true })] }));

    await expect(stable(await given.get('/metrics'))).toMatchFileSnapshot('../golden/compact.prom');
  });

  it('shows the activation alone of an appliance that refuses all else with 402', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }), { unlicensed: true });

    await expect(stable(await given.get('/metrics'))).toMatchFileSnapshot('../golden/unlicensed.prom');
  });

  it('shows two appliances family by family, and one of them by name', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one'), entry('lb-two')] }));

    await expect(stable(await given.get('/metrics'))).toMatchFileSnapshot('../golden/two-appliances.prom');
    await expect(stable(await given.get('/metrics?appliance=lb-one'))).toMatchFileSnapshot('../golden/fresh.prom');
  });

  it('keeps the readings over a reload that changes labels', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    await given.reload({ appliances: [given.entry('lb-one', { labels: { site: 'paris' } })] });

    const page = await until(
      () => given.get('/metrics'),
      (seen) => seen.includes('site="paris"'),
    );
    await expect(stable(page)).toMatchFileSnapshot('../golden/after-reload.prom');
  });

  it('shows the same samples as OpenMetrics', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    await expect(stable(await given.get('/metrics', openMetrics))).toMatchFileSnapshot('../golden/openmetrics.prom');
  });

  it('shows one appliance on /probe, without the metrics of the exporter', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one'), entry('lb-two')] }));

    const page = await given.get('/probe?target=lb-one');

    expect(page).not.toMatch(/^(?:process|nodejs)_|lb-two|zlb_exporter_build_info/m);
    await expect(stable(page)).toMatchFileSnapshot('../golden/fresh.prom');
  });

  it('shows the same facts on /api/status', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    const status: unknown = JSON.parse(await given.get('/api/status'), (key, value: unknown) =>
      key === 'lastSuccessMs' || key === 'url' ? '~' : value,
    );

    await expect(`${JSON.stringify(status, undefined, 2)}\n`).toMatchFileSnapshot('../golden/status.json');
  });

  it('keeps a stale reading off /api/status as well', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    given.pass(10 * minuteMs);
    await given.get('/metrics');

    const status: unknown = JSON.parse(await given.get('/api/status'), (key, value: unknown) =>
      key === 'lastSuccessMs' || key === 'url' ? '~' : value,
    );
    await expect(`${JSON.stringify(status, undefined, 2)}\n`).toMatchFileSnapshot('../golden/status-stale.json');
  });
});

describe('the series about the exporter itself', () => {
  const own = /^zlb_(?:collector_|api_|transitions_|circuit_breaker_|exporter_series).*appliance="lb-one"/;
  const linesOf = (page: string, pattern: RegExp): number =>
    page.split('\n').filter((line) => pattern.test(line)).length;
  const ownPerCollector = (page: string): number =>
    linesOf(page, own) / linesOf(page, /^zlb_collector_interval_seconds.*appliance="lb-one"/);

  it('are at most 13 per collector of an appliance with ten farms', async () => {
    const given = await givenRecordedExporter((entry) => ({ appliances: [entry('lb-one')] }));

    expect(ownPerCollector(await given.get('/metrics'))).toBeLessThanOrEqual(13);
  });

  it('are at most 9 per collector of an appliance that never answered', async () => {
    const given = await givenRecordedExporter((entry) => ({
      appliances: [entry('lb-one', { url: 'https://127.0.0.1:9' })],
    }));

    expect(ownPerCollector(await given.get('/metrics'))).toBeLessThanOrEqual(9);
  });
});
