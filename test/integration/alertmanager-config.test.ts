import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseDuration } from '../../src/lib/time.ts';
import { repairRules } from '../../src/admin/changes/repairs.ts';
import { givenFolder } from '../support/folder.ts';
import { knownSeries } from '../support/known-series.ts';
import { shippedRules } from '../support/shipped-rules.ts';
import { labelFlow } from '../support/label-flow.ts';
import { givenAlertmanager } from '../support/monitoring.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

type Labels = Readonly<Record<string, string>>;

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal?: readonly string[];
}

interface Route {
  readonly matchers?: readonly string[];
  readonly group_wait?: string;
  readonly routes?: readonly Route[];
}

const configFile = fileURLToPath(new URL('../../alerts/alertmanager.example.yml', import.meta.url));
const {
  inhibit_rules: inhibitRules,
  route: rootRoute,
  receivers,
} = parse(readFileSync(configFile, 'utf8')) as {
  inhibit_rules: InhibitRule[];
  route: Route;
  receivers: {
    readonly name: string;
    readonly pagerduty_configs?: readonly {
      readonly description: string;
      readonly links: readonly { readonly text: string; readonly href: string }[];
    }[];
    readonly email_configs?: readonly { readonly text: string }[];
  }[];
};
const hasAlertmanager = isThere('prometheus-alertmanager');
/** The labels of the alerts of one target, unless a scene has others. */
const scrapeTarget = { job: 'zlb', instance: 'exporter:9444' };
const known = await knownSeries({ everywhere: ['job', 'instance', 'exporter'], appliances: [] });
/** The labels that an alert can have. */
const labelsIn = (expr: string) => new Set(['severity', ...labelFlow(expr, known).forms.flatMap((form) => [...form])]);

/** Every alert with its severity; one that comes in two severities is here twice. */
const alerts = shippedRules.flatMap(({ alert, expr, labels }) =>
  alert === undefined ? [] : [{ name: alert, severity: labels?.severity ?? '', labels: labelsIn(expr) }],
);
type Alert = (typeof alerts)[number];
const names = [...new Set(alerts.map(({ name }) => name))];

it.skipIf(!isThere('amtool'))('amtool accepts alertmanager.example.yml', () => {
  expect(amtool('check-config', configFile)).toContain('SUCCESS');
});

it.skipIf(!hasAlertmanager)(
  'the routes of alertmanager.example.yml send each alert to its receivers, and leave other alerts alone',
  async () => {
    const usualReceivers = { critical: 'page', warning: 'tickets', info: 'digest', none: 'dead-mans-switch' };
    const foreign = ['Other', 'NotZlbFarmDown', 'Zlb', 'Watchdog'].flatMap((alertname) =>
      Object.keys(usualReceivers).map((severity) => [{ alertname, severity, site: 'paris' }, ['tickets']] as const),
    );
    // Several rules may have one name, and then one severity.
    const severities = new Map(alerts.map(({ name, severity }) => [name, severity]));
    await expectReceivers([
      ...foreign,
      ...[...severities].flatMap(([name, severity]) => {
        const usual = usualReceivers[severity as keyof typeof usualReceivers];
        const atParis = severity === 'critical' ? 'page-paris' : usual;
        // The gateway proposes what it can repair; people get the same notifications as before.
        const before = name in repairRules ? ['repairs'] : [];
        const alert = { alertname: name, severity };
        return [
          [{ ...alert, site: 'paris' }, [...before, atParis]],
          [{ ...alert, site: 'lyon' }, [...before, usual]],
          [alert, [...before, usual]],
        ] as const;
      }),
    ]);
    expect(alerts.filter(({ severity }) => severity === 'none').map(({ name }) => name)).toEqual(['ZlbWatchdog']);
  },
);

describe.skipIf(!isThere('amtool'))('the notifications of alertmanager.example.yml', () => {
  const rendered = async (text: string, labels: Labels) => {
    const folder = givenFolder();
    const [data, none] = [join(folder, 'data.json'), join(folder, 'none.tmpl')];
    const annotations = {
      summary: 'A farm is down.',
      description: `Clients of ${labels['farm']} are not served.`,
      runbook_url: 'https://runbooks.example/runbooks#x',
      page_url: 'https://runbooks.example/page',
      dashboard_url: 'https://grafana.example/d/x',
    };
    const alert = { status: 'firing', labels, annotations, startsAt: '2026-11-25T03:04:05Z' };
    await writeFile(data, JSON.stringify({ status: 'firing', externalURL: 'http://am', alerts: [alert] }));
    await writeFile(none, '');
    return amtool(
      'template',
      'render',
      `--template.glob=${none}`,
      `--template.data=${data}`,
      `--template.text=${text}`,
    );
  };
  const mail = receivers.find(({ name }) => name === 'tickets')?.email_configs?.[0];
  const page = receivers.find(({ name }) => name === 'page')?.pagerduty_configs?.[0];

  it.each([
    ['a farm', { appliance: 'lb-1', farm: 'a&b=<c>' }, 'appliance=lb-1&object=a%26b%3D%3Cc%3E'],
    ['a file', { appliance: 'lb-1', file: 'a b.pem' }, 'appliance=lb-1&object=a+b.pem'],
    ['an appliance', { appliance: 'lb-1' }, 'appliance=lb-1&object='],
  ])('link to the proposal of an alert about %s', async (_, labels, address) => {
    const link = `https://exporter.example:9445/console#alert=ZlbFarmDown&${address}`;
    const alert = { alertname: 'ZlbFarmDown', ...labels };

    expect(await rendered(page?.links.at(-1)?.href ?? '', alert)).toBe(link);
    expect(await rendered(page?.links.at(-1)?.text ?? '', alert)).toBe('Repair');
    expect(await rendered(mail?.text ?? '', alert)).toContain(`: ${link}\n`);
  });

  it('name a repair only for alerts that have one', async () => {
    const alert = { alertname: 'ZlbApplianceDown', appliance: 'lb-1' };

    expect(await rendered(page?.links.at(-1)?.text ?? '', alert)).toBe('Alertmanager');
    expect(await rendered(mail?.text ?? '', alert)).not.toContain('console');
    const named = new Set(readFileSync(configFile, 'utf8').match(/(?<="\^\().*?(?=\)\$")/g));
    expect([...named].map((list) => list.split('|').toSorted())).toEqual([Object.keys(repairRules).toSorted()]);
  });

  it('say what is firing, since when and where to look, and keep braces and quotes of a name', async () => {
    const alert = { alertname: 'ZlbFarmDown', appliance: 'lb-1', farm: '{{ .Status }} "a"' };

    expect(await rendered(mail?.text ?? '', alert)).toContain(
      [
        'firing since 2026-11-25 03:04 UTC: Clients of {{ .Status }} "a" are not served.',
        'Runbook: https://runbooks.example/runbooks#x',
        'Page: https://runbooks.example/page',
        'Dashboard: https://grafana.example/d/x',
      ].join('\n'),
    );
    expect(await rendered(page?.description ?? '', alert)).toBe('Clients of {{ .Status }} "a" are not served.');
    expect(await Promise.all((page?.links ?? []).slice(0, 3).map(({ href }) => rendered(href, alert)))).toEqual([
      'https://runbooks.example/runbooks#x',
      'https://runbooks.example/page',
      'https://grafana.example/d/x',
    ]);
  });
});

it('the group waits of alertmanager.example.yml delay a ticket until the page that explains it arrives', () => {
  // ZlbApplianceUnreachable fires after five minutes, and ZlbApplianceDown after seven.
  const laterMs = 2 * 60_000;
  const route = (path: Route): readonly Route[] => [path, ...(path.routes ?? []).flatMap(route)];
  const tickets = route(rootRoute).find(({ matchers }) => matchers?.includes('severity="warning"'));

  expect(parseDuration(tickets?.group_wait ?? '30s')).toBeGreaterThan(laterMs);
});

describe('the inhibitions of alertmanager.example.yml', () => {
  it('name only existing alerts', () => {
    const named = inhibitRules.flatMap(({ source_matchers, target_matchers }) =>
      [...source_matchers, ...target_matchers].flatMap((matcher) => matcher.match(/Zlb\w+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
  });

  it('compare labels that the alerts of both sides have', () => {
    const labelsOf = (name: string) => alerts.flatMap((alert) => (alert.name === name ? [...alert.labels] : []));
    const lacking = inhibitRules.flatMap(({ source_matchers, target_matchers, equal = [] }) =>
      names
        .filter((name) => [...source_matchers, ...target_matchers].some((matcher) => asksFor(matcher, name)))
        .flatMap((name) =>
          equal
            // `site` comes from the configuration of the appliances.
            .filter((label) => label !== 'site' && !labelsOf(name).includes(label))
            .map((label) => `${name}: ${label}`),
        ),
    );
    expect(lacking).toEqual([]);
  });

  it('each have at least one alert to inhibit', () => {
    const idle = inhibitRules.filter(
      (rule) => !alerts.some((source) => alerts.some((target) => canHoldBackBy(rule, source, target))),
    );
    expect(idle).toEqual([]);
  });

  it('form no cycle in which every alert inhibits another and nobody is notified', () => {
    const circles = names.filter((name) => reachableFrom(name).has(name));
    expect(reachableFrom('ZlbApplianceDeactivated')).toContain('ZlbApplianceUnreachable');
    expect(reachableFrom('ZlbApplianceDeactivated')).toContain('ZlbFarmDegraded');
    expect(circles).toEqual([]);
  });

  it('inhibit no page, because neither its resolution nor its next failure would be sent', () => {
    const pages = alerts.filter(({ severity }) => severity === 'critical');
    const heldBack = pages.filter((target) =>
      alerts.some((source) => inhibitRules.some((rule) => canHoldBackBy(rule, source, target))),
    );
    expect(heldBack.map(({ name }) => name)).toEqual([]);
  });

  it('let an unreachable appliance inhibit only the alerts that follow from it', () => {
    const critical = new Set(alerts.filter(({ severity }) => severity === 'critical').map(({ name }) => name));
    const still = names.filter((name) => !heldBackBy('ZlbApplianceUnreachable').includes(name));
    expect(still.filter((name) => !critical.has(name))).toEqual([
      'ZlbWatchdog',
      'ZlbApplianceUnreachable',
      'ZlbExporterOfPairDown',
      'ZlbExporterFault',
      'ZlbApplianceDeactivated',
      'ZlbAdminGateway',
    ]);
  });

  it.each(['ZlbWatchdog', 'ZlbExporterDown'])('never inhibit %s', (name) => {
    expect(names.filter((source) => heldBackBy(source).includes(name))).toEqual([]);
  });
});

describe.skipIf(!hasAlertmanager)('Alertmanager with these inhibitions', () => {
  it('inhibits what another alert explains, but nothing of another appliance, farm or name', async () => {
    const [away, off] = [{ appliance: 'lb-away' }, { appliance: 'lb-deactivated' }];
    const shopOf = (appliance: string) => ({ appliance, farm: 'shop' });
    const [down, deaf, pending, ended] = [shopOf('lb-1'), shopOf('lb-2'), shopOf('lb-3'), shopOf('lb-4')];
    const name = { server_name: 'shop.test' };
    await expectStates([
      // An appliance that cannot be reached: tickets, and no page.
      ['active', 'ZlbApplianceUnreachable', away],
      ['suppressed', 'ZlbBackendDown', { ...away, farm: 'shop' }],
      ['active', 'ZlbFarmDown', { ...away, farm: 'shop', severity: 'critical' }],
      ['suppressed', 'ZlbCollectorStale', { ...away, collector: 'farms' }],
      ['active', 'ZlbCertificateExpiryImminent', { ...away, file: 'shop.pem', severity: 'critical' }],
      ['suppressed', 'ZlbCertificateExpirySoon', { ...away, file: 'other.pem' }],
      ['active', 'ZlbCollectorStale', { appliance: 'lb-other', collector: 'farms' }],
      ['active', 'ZlbExporterFault', {}],
      ['active', 'FarmDownOfSomebodyElse', away],
      // One that is deactivated, instead of the errors that follow from it.
      ['active', 'ZlbApplianceDeactivated', off],
      ['suppressed', 'ZlbApplianceUnreachable', off],
      ['active', 'ZlbFarmDown', { ...off, farm: 'shop', severity: 'critical' }],
      // A farm that is down, and one beside it.
      ['active', 'ZlbFarmDown', { ...down, status: 'critical' }],
      ['suppressed', 'ZlbBackendDown', { ...down, backend: '10.0.0.1:80' }],
      ['active', 'ZlbFarmNoBackends', { ...down, service: 'web' }],
      ['active', 'ZlbFarmNeedsRestart', down],
      ['active', 'ZlbBackendDown', { ...down, farm: 'mail', backend: '10.0.0.1:80' }],
      // Many farms that are down, and many backends of the others.
      ['active', 'ZlbFarmDown', { appliance: 'lb-6', severity: 'critical' }],
      ['active', 'ZlbBackendDown', { appliance: 'lb-6', scope: 'appliance' }],
      // A farm that cannot be reached.
      ['active', 'ZlbFarmUnreachable', { ...deaf, vip: '192.0.2.1', severity: 'critical' }],
      ['suppressed', 'ZlbFarmTrafficStopped', deaf],
      ['suppressed', 'ZlbServedCertificateDiffers', { ...deaf, ...name }],
      ['active', 'ZlbFarmTrafficStopped', { ...deaf, farm: 'mail' }],
      // One that waits for a restart to serve its new certificate.
      ['active', 'ZlbFarmNeedsRestart', pending],
      ['suppressed', 'ZlbServedCertificateDiffers', { ...pending, ...name }],
      ['suppressed', 'ZlbServedCertificateWrongName', { ...pending, ...name }],
      // The end of a served certificate, and no other fault of it.
      ['active', 'ZlbCertificateExpiryImminent', { ...ended, ...name, certificate: 'served', severity: 'critical' }],
      ['suppressed', 'ZlbServedCertificateDiffers', { ...ended, ...name }],
      ['suppressed', 'ZlbServedCertificateWrongName', { ...ended, ...name }],
      ['active', 'ZlbServedCertificateWrongName', { ...ended, server_name: 'www.shop.test' }],
      // The end of a certificate in the store, and of another one.
      ['active', 'ZlbCertificateExpiryImminent', { appliance: 'lb-5', file: 'shop.pem', severity: 'critical' }],
      ['active', 'ZlbCertificateExpirySoon', { appliance: 'lb-5', file: 'other.pem' }],
    ]);
  });

  it('inhibits the tickets of appliances that a page about many explains, but none of another cause, site or exporter', async () => {
    const page = { severity: 'critical' };
    const at = (site: string, appliance: string) => ({ site, appliance, instance: appliance, exporter: 'e:9444' });
    await expectStates([
      ['active', 'ZlbApplianceDown', { ...page, scope: 'site', site: 'paris', job: '', instance: '' }],
      ['suppressed', 'ZlbApplianceUnreachable', { ...at('paris', 'lb-paris-1'), scope: 'many' }],
      ['active', 'ZlbApplianceUnreachable', at('paris', 'lb-paris-2')],
      ['suppressed', 'ZlbBackendDown', { ...at('paris', 'lb-paris-1'), farm: 'shop' }],
      ['active', 'ZlbApplianceUnreachable', at('rome', 'lb-rome-1')],
      // The network of an exporter.
      ['active', 'ZlbApplianceDown', { ...page, scope: 'exporter', exporter: 'f:9444', instance: '' }],
      ['suppressed', 'ZlbApplianceUnreachable', { ...at('oslo', 'lb-oslo-1'), exporter: 'f:9444', scope: 'many' }],
      // An agent that sent for a whole site.
      ['active', 'ZlbExporterDown', { ...page, exporter: 'g:9444', instance: '' }],
      ['suppressed', 'ZlbCollectorStale', { ...at('bonn', 'lb-bonn-1'), exporter: 'g:9444' }],
      // The clock of an exporter.
      ['active', 'ZlbExporterFault', { fault: 'clock', exporter: 'h:9444', instance: '' }],
      ['suppressed', 'ZlbApplianceClockWrong', { ...at('kiel', 'lb-kiel-1'), exporter: 'h:9444' }],
    ]);
  });

  it.each([
    ['an appliance, and nothing that is about many', 0, ['appliance', 'backends', 'mail', 'shop']],
    ['one of its farms', 1, ['shop']],
    [
      'a site: what is about one of its appliances, and about many',
      2,
      ['appliance', 'backends', 'mail', 'many', 'nodes', 'shop'],
    ],
  ])('silences, with the lines of the runbooks, %s', async (_, line, silenced) => {
    const { url, alerts: known } = await givenAlertmanager(
      stringify({ route: { receiver: 'nobody' }, receivers: [{ name: 'nobody' }] }),
    );
    const lines = readFileSync('docs/operations.md', 'utf8')
      .replaceAll('\\\n', ' ')
      .match(/^amtool .* silence add .*$/gm);
    execFileSync('sh', ['-ec', lines?.[line] ?? ''], { env: { ...process.env, am: url } });
    const at = { appliance: 'lb-madrid', site: 'madrid' };
    await post(url, [
      { what: 'appliance', alertname: 'ZlbApplianceDown', ...at },
      { what: 'backends', alertname: 'ZlbBackendDown', scope: 'appliance', ...at },
      { what: 'mail', alertname: 'ZlbFarmDown', farm: 'mail', ...at },
      { what: 'shop', alertname: 'ZlbFarmDown', farm: 'shop', ...at },
      { what: 'many', alertname: 'ZlbApplianceDown', scope: 'site', site: 'madrid' },
      { what: 'nodes', alertname: 'ZlbClusterTwoMasters', site: 'madrid' },
      { what: 'network', alertname: 'ZlbApplianceDown', scope: 'exporter', exporter: 'e:9444' },
    ]);
    const seen = await until(
      async () =>
        (await known()).flatMap(({ labels, status }) => (status.silencedBy.length > 0 ? (labels['what'] ?? '') : [])),
      ({ length }) => length >= silenced.length,
    );

    expect(seen.toSorted()).toEqual(silenced);
  });

  it('inhibits the tickets of an exporter that is down, but none of another job or instance', async () => {
    await expectStates([
      ['active', 'ZlbExporterDown', {}],
      ['suppressed', 'ZlbBackendDown', { appliance: 'lb-1', farm: 'shop' }],
      ['active', 'ZlbFarmDown', { appliance: 'lb-1', farm: 'shop', severity: 'critical' }],
      ['active', 'ZlbBackendDown', { appliance: 'lb-2', farm: 'shop', instance: 'other:9444' }],
      ['active', 'ZlbBackendDown', { appliance: 'lb-3', farm: 'shop', job: 'zlb-other' }],
      ['active', 'ZlbWatchdog', { job: '', instance: '' }],
    ]);
  });
});

type Scene = readonly (readonly ['active' | 'suppressed', string, Labels])[];

/** Gives the alerts to an Alertmanager with these routes, and compares who would get each. */
async function expectReceivers(expected: readonly (readonly [Labels, readonly string[]])[]): Promise<void> {
  const alertmanager = await givenAlertmanager(
    stringify({ route: rootRoute, receivers: receivers.map(({ name }) => ({ name })) }),
  );
  await post(
    alertmanager.url,
    expected.map(([labels]) => labels),
  );
  const look = async () =>
    (await alertmanager.alerts()).map(({ labels, receivers }) => ({
      labels,
      state: receivers.map(({ name }) => name).join(),
    }));
  const seen = await until(look, ({ length }) => length === expected.length);
  expect(inWords(seen)).toBe(inWords(expected.map(([labels, names]) => ({ labels, state: names.join() }))));
}

async function post(url: string, labelSets: readonly Labels[]): Promise<void> {
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(labelSets.map((labels) => ({ labels }))),
  });
  expect(response.status, await response.text()).toBe(200);
}

/**
 * Gives the alerts to an Alertmanager at once and waits until their states are as they say. Each
 * scene holds a suppressed alert for each alert that suppresses, so that none is looked at before
 * it has had its effect.
 */
async function expectStates(scene: Scene): Promise<void> {
  const alertmanager = await givenAlertmanager(
    stringify({ route: { receiver: 'nobody' }, receivers: [{ name: 'nobody' }], inhibit_rules: inhibitRules }),
  );
  const expected = scene.map(([state, alertname, labels]) => ({
    state,
    labels: { ...scrapeTarget, alertname, ...labels },
  }));
  await post(
    alertmanager.url,
    expected.map(({ labels }) => labels),
  );
  const look = async () => (await alertmanager.alerts()).map(({ labels, status: { state } }) => ({ state, labels }));
  const seen = await until(
    async () => inWords(await look()),
    (words) => words === inWords(expected),
  );
  expect(seen).toBe(inWords(expected));
}

/** A line for each alert. An empty label is none. */
function inWords(seen: readonly { state: string; labels: Labels }[]): string {
  const wordsOf = (labels: Labels) =>
    Object.entries(labels).flatMap(([name, value]) => (value === '' ? [] : [`${name}=${value}`]));
  return seen
    .map(({ state, labels }) => [state, ...wordsOf(labels).toSorted()].join(' '))
    .toSorted()
    .join('\n');
}

function amtool(...args: readonly string[]): string {
  return execFileSync('amtool', args, { encoding: 'utf8' });
}

function parseMatcher(text: string): { label: string; op: string; value: string } {
  const [, label = '', op = '', value = ''] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(text) ?? [];
  if (label === '') throw new Error(`not a matcher that this test can read: ${text}`);
  return { label, op, value };
}

/** As Alertmanager does: a regular expression has to match the whole value. */
function matches(text: string, labels: Labels): boolean {
  const { label, op, value } = parseMatcher(text);
  const is = labels[label] ?? '';
  const found = op.endsWith('~') ? new RegExp(`^(?:${value})$`).test(is) : is === value;
  return op.startsWith('!') ? !found : found;
}

/** Whether a matcher asks for this alert by its name, and not for all at once. */
function asksFor(matcher: string, name: string): boolean {
  const { label, op, value } = parseMatcher(matcher);
  return label === 'alertname' && !op.startsWith('!') && value.split('|').includes(name);
}

function canHoldBackBy(rule: InhibitRule, source: Alert, target: Alert): boolean {
  const { source_matchers, target_matchers, equal = [] } = rule;
  const isMatched = (matchers: readonly string[], { name, severity }: Alert) =>
    matchers
      .filter((matcher) => ['alertname', 'severity'].includes(parseMatcher(matcher).label))
      .every((matcher) => matches(matcher, { alertname: name, severity }));
  // A label that both lack is equal, one that only one of them has is not.
  const canBeEqual = equal.every((label) => source.labels.has(label) === target.labels.has(label));
  return isMatched(source_matchers, source) && isMatched(target_matchers, target) && canBeEqual;
}

/** Names of the alerts that one can hold back. */
function heldBackBy(source: string): readonly string[] {
  const targets = alerts.filter((target) =>
    alerts.some((alert) => alert.name === source && inhibitRules.some((rule) => canHoldBackBy(rule, alert, target))),
  );
  return [...new Set(targets.map(({ name }) => name))];
}

/** Returns the alerts that an alert inhibits, directly or through others. */
function reachableFrom(name: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...heldBackBy(name)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...heldBackBy(next));
  }
  return reached;
}
