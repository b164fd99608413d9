import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createCertificate } from '../../simulator/certificate.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import { createTlsMaterials, tlsMaterialOf } from '../../simulator/tls.ts';
import { makeToken } from '../../src/commands/token.ts';
import { startAdminExporter } from '../support/admin-exporter.ts';
import { makeAuthority } from '../support/authority.ts';
import { givenFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { givenAlertsOf, healthyWorld, hurriedConfiguration, portalOf } from '../support/given-alerting.ts';
import { runExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const apiKey = 'key-of-the-appliance';
const minuteMs = 60_000;
/** An address that only this test uses, from those that are for examples. */
const lostHost = '198.51.100.143';

interface Silence {
  readonly reason: string;
  /** The alert's words for it. */
  readonly inAlert: string;
  /** The end of the title on the page. */
  readonly onPage: string;
  /** From the report of `check`. */
  readonly inCheck: RegExp;
  /** True if nothing answers any more, so that the farms are probably gone too. */
  readonly isPage: boolean;
}

/** Each way in which an appliance stops answering, by the name of the appliance. */
const silences: Readonly<Record<string, Silence>> = {
  refused: {
    reason: 'connect',
    inAlert: 'Its calls fail: no connection (connect).',
    onPage: 'does not answer: no connection',
    inCheck: /Nothing accepts connections on 127\.0\.0\.1:\d+\./,
    isPage: true,
  },
  'no-route': {
    reason: 'connect',
    inAlert: 'Its calls fail: no connection (connect).',
    onPage: 'does not answer: no connection',
    inCheck: /EHOSTUNREACH|ENETUNREACH/,
    isPage: true,
  },
  'tls-changed': {
    reason: 'tls',
    inAlert: 'Its calls fail: its certificate is not the trusted one (tls).',
    onPage: 'does not answer: its certificate is not the trusted one',
    inCheck: /The certificate is not the pinned one: its fingerprint is [0-9a-f]{64}\./,
    isPage: false,
  },
  'tls-expired': {
    reason: 'tls',
    inAlert: 'Its calls fail: its certificate is not the trusted one (tls).',
    onPage: 'does not answer: its certificate is not the trusted one',
    inCheck: /The certificate of the API expired on \d{4}-\d\d-\d\d\./,
    isPage: false,
  },
  'key-refused': {
    reason: 'unauthorized',
    inAlert: 'Its calls fail: it refuses the API key (unauthorized).',
    onPage: 'refuses the API key',
    inCheck: /The key is refused: it is mistyped, was replaced or expired, or its user is disabled\./,
    isPage: false,
  },
  hanging: {
    reason: 'timeout',
    inAlert: 'Its calls fail: no answer in time (timeout).',
    onPage: 'does not answer: no answer in time',
    inCheck: /gave no answer in time\./,
    isPage: true,
  },
};

const ip = (...words: readonly string[]) => spawnSync('ip', words, { stdio: 'ignore' }).status === 0;

/** Gives this machine an address, and takes the way to it away; false without the right to. */
function givenLostHost(): boolean {
  if (!ip('address', 'add', `${lostHost}/32`, 'dev', 'lo')) {
    console.warn('NOT RUN: the appliance without a route; it wants root and ip of iproute2');
    return false;
  }
  onTestFinished(() => {
    ip('address', 'delete', `${lostHost}/32`, 'dev', 'lo');
    ip('route', 'delete', 'unreachable', lostHost);
  });
  return true;
}

/** Starts an appliance for each way, and an exporter that watches them all. */
async function givenAppliances() {
  const folder = givenFolder();
  const names = Object.keys(silences).filter((name) => name !== 'no-route' || givenLostHost());
  const authority = makeAuthority();
  const issued = (days: number) => {
    const day = (offset: number) => new Date(Date.now() + offset * 86_400_000);
    const dates = { notBefore: day(-30), notAfter: day(days) };
    const { key, cert } = createCertificate({
      subject: { CN: 'lb' },
      altNames: ['IP:127.0.0.1'],
      issuer: authority,
      ...dates,
    });
    return tlsMaterialOf(key, cert);
  };
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const appliances = new Map<string, SimulatedAppliance>();
  for (const [index, name] of names.entries()) {
    const world = healthyWorld();
    portalOf(world).vip = `192.0.2.${100 + index}`;
    const tls = name === 'tls-expired' ? { usual: issued(30), expired: issued(-1) } : createTlsMaterials();
    const host = name === 'no-route' ? lostHost : '127.0.0.1';
    appliances.set(name, await startSimulatedAppliance({ world, apiKey, host, tls }));
  }
  onTestFinished(async () => {
    for (const appliance of appliances.values()) await appliance.close();
  });
  const { sha256 } = makeToken();
  const configFile = join(folder, 'zlb.yml');
  const configured = [...appliances].map(([name, { url, fingerprintSha256 }]) => ({
    name,
    url,
    api_key: apiKey,
    tls: name === 'tls-expired' ? { ca_file: caFile } : { fingerprint_sha256: fingerprintSha256 },
  }));
  writeFileSync(configFile, hurriedConfiguration(configured, { sha256, folder, maxStale: '10s' }));
  const exporter = await startAdminExporter(configFile, `127.0.0.1:${await freePort()}`);
  return { names, appliances, configFile, url: exporter.metricsUrl };
}

/** Breaks each appliance in its way. */
async function silence(appliances: ReadonlyMap<string, SimulatedAppliance>): Promise<void> {
  const of = (name: string) => appliances.get(name)!;
  of('refused').fail('*', { kind: 'refuse' });
  of('key-refused').fail('*', { kind: 'status', status: 401, body: { message: 'Authorization required' } });
  of('hanging').fail('*', { kind: 'hang' });
  of('tls-expired').fail('*', { kind: 'expired_tls' });
  const { world, url } = of('tls-changed');
  await of('tls-changed').close();
  const replaced = await startSimulatedAppliance({ world, apiKey, port: Number(new URL(url).port) });
  onTestFinished(() => replaced.close());
  if (!appliances.has('no-route')) return;
  // As where a router has lost the network behind it.
  ip('address', 'delete', `${lostHost}/32`, 'dev', 'lo');
  ip('route', 'add', 'unreachable', lostHost);
  await of('no-route').close();
}

/** Returns the first query of a runbook, filled in as the alert's link does. */
async function firstQuery(runbook: string, appliance: string): Promise<string> {
  const page = await (await fetch(`${runbook}?appliance=${appliance}`)).text();
  const section = page.slice(page.indexOf('id="zlbapplianceunreachable"')).split('<h3')[0] ?? '';
  const text = section.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"');
  return text.split('\n').find((line) => line.startsWith('zlb_')) ?? '';
}

it.skipIf(!(isThere('prometheus') && isThere('prometheus-alertmanager')))(
  'six ways in which an appliance stops answering: alert, runbook, page and check each give the right reason',
  { timeout: 8 * minuteMs },
  async () => {
    const { names, appliances, configFile, url } = await givenAppliances();
    const { prometheus, pages } = await givenAlertsOf([new URL(url).host]);
    await until(
      () => prometheus.query('appliance:zlb_farm_status:served and zlb_up == 1').catch(() => []),
      (seen) => seen.length === names.length,
      minuteMs,
    );

    await silence(appliances);
    // Hurried alerts fire before the first call that hangs has met its limit of 20 s.
    const alerts = await until(
      async () =>
        (await prometheus.alerts()).filter(
          ({ state, labels, annotations }) =>
            state === 'firing' &&
            labels['alertname'] === 'ZlbApplianceUnreachable' &&
            annotations['description']?.includes('Its calls fail'),
        ),
      (seen) => seen.length === names.length,
      2 * minuteMs,
    );

    const { appliances: shown } = (await (await fetch(`${url}/api/status`)).json()) as {
      readonly appliances: readonly {
        readonly name: string;
        readonly problems: readonly { readonly title: string }[];
      }[];
    };
    const check = await runExporter(['check', `--config.file=${configFile}`]);
    for (const name of names) {
      const { reason, inAlert, onPage, inCheck } = silences[name]!;
      const alert = alerts.find(({ labels }) => labels['appliance'] === name)!;
      const query = await firstQuery(`${url}/runbooks`, name);
      // A scrape may fail on a busy machine.
      const answer = await until(
        () => prometheus.query(query),
        (seen) => seen.length > 0,
      );
      const titles = shown.find((each) => each.name === name)?.problems.map(({ title }) => title);
      const checked = check.stdout
        .split('\n\n')
        .find((section) => section.includes(`${name} `) && section.includes('FAILED'));
      expect(alert.annotations['description'], name).toContain(inAlert);
      expect(query).toContain(`zlb_appliance_failure_info{appliance="${name}"}`);
      expect(answer, name).toMatchObject([{ metric: { appliance: name, reason }, value: 1 }]);
      expect(titles, name).toEqual([`${name} ${onPage}`]);
      expect(checked, name).toMatch(inCheck);
    }
    const silent = names.filter((name) => silences[name]!.isPage).map((name) => `firing ZlbApplianceDown ${name}`);
    const paged = await until(
      () => pages().toSorted(),
      (lines) => lines.length >= silent.length,
      minuteMs,
    );
    expect(paged).toEqual(silent.toSorted());
  },
);
