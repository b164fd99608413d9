import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { localAlertmanagerConfiguration } from '../../scripts/stack/configuration.ts';
import { givenAlertmanager, givenReceiver } from '../support/monitoring.ts';
import { isThere } from '../support/programs.ts';
import { until, untilIs } from '../support/until.ts';

type Labels = Readonly<Record<string, string>>;

const example = readFileSync(new URL('../../alerts/alertmanager.example.yml', import.meta.url), 'utf8');

const farm = (name: string, alertname = 'ZlbFarmDown', appliance = 'lb-1') => ({
  ...target(appliance),
  alertname,
  farm: name,
  severity: 'critical',
});
const away = (appliance: string, site = 'lyon') => ({
  ...target(appliance, { site }),
  alertname: 'ZlbApplianceDown',
  severity: 'critical',
});
/** The one alert of several appliances that went together. */
const siteAway = (site: string) => ({ alertname: 'ZlbApplianceDown', severity: 'critical', site });
const exporterDown = (instance: string, exporter: string, site = 'lyon') => ({
  job: 'zlb',
  instance,
  ...(exporter && { exporter, site }),
  alertname: 'ZlbExporterDown',
  severity: 'critical',
});

/** Sent last: what belongs to an earlier incident comes before it. */
const marker = { ...away('lb-9'), alertname: 'ZlbActivationExpiryImminent' };

describe.skipIf(!isThere('prometheus-alertmanager'))('the pages of alertmanager.example.yml', () => {
  it('notify the end of a farm’s failure while its exporter is down, and the farm’s next failure', async () => {
    const { fire, end, pages } = await givenPager();
    const shop = farm('shop');
    await fire(shop);
    await pages('firing ZlbFarmDown');
    await fire(exporterDown('lb-1', 'a:9444'));
    await pages('firing ZlbFarmDown', 'firing ZlbExporterDown');

    await end(shop);
    await pages('firing ZlbFarmDown', 'firing ZlbExporterDown', 'resolved ZlbFarmDown');
    await end(exporterDown('lb-1', 'a:9444'));
    await fire(shop);

    const seen = await pages(
      'firing ZlbFarmDown',
      'firing ZlbExporterDown',
      'resolved ZlbFarmDown',
      'resolved ZlbExporterDown',
      'firing ZlbFarmDown',
    );
    expect(seen).toHaveLength(5);
  });

  it('are separate incidents for farms, certificates, exporters, appliances, and whole sites', async () => {
    const { fire, incidents } = await givenPager();
    const ofAppliance = (alertname: string, more: Labels = {}) => ({ ...away('lb-1'), alertname, ...more });
    const alerts = [
      farm('intranet'),
      farm('shop'),
      { ...farm('shop'), status: 'silent' },
      { ...farm('shop', 'ZlbFarmDown', 'lb-2'), status: 'silent' },
      away('lb-1', ''),
      away('lb-2', ''),
      away('lb-1'),
      away('lb-2'),
      siteAway('lyon'),
      siteAway('lille'),
      exporterDown('lb-1', 'a:9444'),
      exporterDown('lb-2', 'b:9444'),
      exporterDown('a:9444', ''),
      exporterDown('b:9444', ''),
      ofAppliance('ZlbActivationExpiryImminent'),
      ofAppliance('ZlbCertificateExpiryImminent', { file: 'a.pem' }),
      ofAppliance('ZlbCertificateExpiryImminent', { file: 'b.pem' }),
    ];

    for (const alert of alerts) await fire(alert);

    await untilIs(() => incidents().length, alerts.length);
  });

  it('are a single page for a single incident', async () => {
    const { fire, incidents } = await givenPager();
    const shop = { ...farm('shop', 'ZlbFarmDown', 'lb-2'), site: 'paris' };

    await fire(exporterDown('lb-1', 'a:9444'), exporterDown('lb-2', 'a:9444', 'lille'));
    await fire(
      shop,
      { ...shop, alertname: 'ZlbFarmNoBackends', service: 'web' },
      { ...shop, alertname: 'ZlbBackendDown', backend: 'b', severity: 'warning' },
      { ...shop, job: 'zlb-b', exporter: 'b:9444' },
    );
    await fire(...['a', 'b', 'c'].map((name) => ({ ...farm(name), status: 'silent' })));
    await untilIs(() => incidents().length, 3);
    await fire(marker);

    await until(incidents, (sent) => sent.some((key) => key.includes(marker.alertname)));
    expect(incidents()).toHaveLength(4);
  });
});

function target(appliance: string, { site = 'lyon' } = {}): Labels & { alertname: string; severity: string } {
  return {
    job: 'zlb',
    instance: appliance,
    appliance,
    exporter: 'a:9444',
    ...(site && { site }),
    alertname: '',
    severity: '',
  };
}

/** An Alertmanager with the shipped routes and inhibitions, and short waits instead of minutes. */
async function givenPager() {
  const { url: people, deliveries } = await givenReceiver();
  const waits = { groupWait: '300ms', groupInterval: '300ms' };
  const alertmanager = await givenAlertmanager(localAlertmanagerConfiguration(example, { people }, waits));

  const send = async (alerts: readonly Labels[], times: object): Promise<void> => {
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts.map((labels) => ({ labels, ...times }))),
    });
    expect(response.status, await response.text()).toBe(200);
  };
  /** Every change that a pager heard: an alert of an incident that fires, or has ended. */
  const heard = () => {
    const last = new Map<string, string>();
    return deliveries().flatMap(({ groupKey, alerts }) =>
      alerts.flatMap(({ status, labels, fingerprint }) => {
        const key = `${groupKey} ${fingerprint}`;
        if (last.get(key) === status) return [];
        last.set(key, status);
        return [`${status} ${labels['alertname']}`];
      }),
    );
  };
  return {
    fire: (...alerts: readonly Labels[]) => send(alerts, {}),
    end: (...alerts: readonly Labels[]) => send(alerts, { endsAt: new Date().toISOString() }),
    /** Waits until these were heard and nothing else, in any order: incidents send side by side. */
    pages: (...expected: readonly string[]) =>
      until(heard, (seen) => expected.toSorted().join() === seen.toSorted().join(), 20_000),
    /** The incidents by their keys, in the order of their first notification. */
    incidents: () => [...new Set(deliveries().map(({ groupKey }) => groupKey))],
  };
}
