import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { toAppliance, toFarm } from './links.ts';
import type { Steps } from './look.ts';
import { type Problem, problemLabels, problemQuery } from './problems.ts';
import { farmId, firing, once, series } from './queries.ts';
import { numberedWords, stateNumber, words, yesNo } from './states.ts';
import { table } from './table.ts';
import type { Threshold } from './thresholds.ts';

interface PanelBuilder {
  build(): Panel;
}

/** The first panel of every board. */
export function problemTable(problems: readonly Problem[]): PanelBuilder {
  return table({
    title: 'What is wrong now',
    description:
      'Read from the metrics themselves, at once; alerts wait a little longer. When nothing is scraped, a row says so: an empty table is good news.',
    unit: 'none',
    width: 24,
    height: 9,
    valuesFirst: true,
    sortBy: 'Severity',
    descending: true,
    empty: 'Nothing is wrong.',
    labels: problemLabels(problems).map((label) => ({ label, ...problemColumns[label] })),
    values: [{ title: 'Severity', width: 120, expr: problemQuery(problems), words: yesNo.severity }],
  });
}

const problemColumns = {
  appliance: { title: 'Appliance', links: [toAppliance] },
  farm: { title: 'Farm', links: [toFarm] },
  object: { title: 'What' },
  problem: { title: 'Problem' },
} as const;

/** Alerts as Prometheus has them now. */
export function alertTable(size: { width: number; height: number }, ...matchers: readonly string[]): PanelBuilder {
  return table({
    title: 'Alerts that fire',
    description: 'What Alertmanager has been told. docs/operations.md has a page for each.',
    unit: 'none',
    ...size,
    sortBy: 'Severity',
    empty: 'No alert fires.',
    labels: [
      {
        label: 'severity',
        title: 'Severity',
        width: 100,
        words: words({ critical: ['critical', 'red'], warning: ['warning', 'orange'], info: ['info', 'blue'] }),
      },
      { label: 'alertname', title: 'Alert' },
      { label: 'appliance', title: 'Appliance', links: [toAppliance] },
      { label: 'farm', title: 'Farm', links: [toFarm] },
      { label: 'object', title: 'What' },
    ],
    values: [{ expr: `group by (severity, alertname, appliance, farm, object) (${withObject(...matchers)})` }],
  });
}

/** What within an appliance or a farm an alert is about. No alert has them all: most of the column's names are a word or two. */
const objectLabels = ['service', 'backend', 'file', 'interface', 'vpn', 'node', 'collector'];
/** The same for alerts of no appliance. Those of one say which exporter has seen it, which is nothing to tell rows apart by. */
const exporterLabels = ['instance', 'principal'];

function withObject(...matchers: readonly string[]): string {
  const joined = (of: string, labels: readonly string[]) =>
    `label_join(${firing(of, ...matchers)}, "object", " ", ${labels.map((label) => `"${label}"`).join(', ')})`;
  const either = `${joined('appliance!=""', objectLabels)} or ${joined('appliance=""', exporterLabels)}`;
  // Labels that an alert lacks leave their separators.
  return `label_replace(${either}, "object", "$1", "object", " *(.*?) *")`;
}

/** `matchers` narrow to a farm, on the board that has that variable. */
export function farmTable(threshold: Threshold, ...matchers: readonly string[]): PanelBuilder {
  const one = (metric: string) => once(farmId, series(metric, ...matchers));
  return table({
    title: 'Farms',
    description:
      'One row for each farm (virtual service), as its appliance words its state. Share is of the backends that are not in maintenance, in the service that is worst off.',
    unit: 'none',
    width: 24,
    height: 11,
    sortBy: 'Farm',
    empty: 'No farm is known.',
    labels: [
      { label: 'appliance', title: 'Appliance', links: [toAppliance] },
      { label: 'farm', title: 'Farm', links: [toFarm] },
      { label: 'profile', title: 'Profile', width: 90 },
      { label: 'vip', title: 'Address' },
      { label: 'vport', title: 'Port', width: 90 },
    ],
    values: [
      { expr: once(`${farmId}, profile, vip, vport`, series('zlb_farm_info', ...matchers)) },
      {
        title: 'State',
        expr: stateNumber('zlb_farm_status', farmId, ...matchers),
        words: numberedWords('zlb_farm_status'),
      },
      {
        title: 'Share of backends up',
        expr: `min by (${farmId}) (${series('zlb:farm_backends_up:ratio', ...matchers)})`,
        unit: 'percentunit',
        decimals: 0,
        steps: [
          [null, 'red'],
          [0.01, 'orange'],
          [threshold('farm_backends_up_ratio'), 'green'],
        ],
      },
      { title: 'Established', expr: one('zlb_farm_established_connections'), unit: 'short' },
      { title: 'Half open', expr: one('zlb_farm_pending_connections'), unit: 'short' },
      { title: 'Sessions', expr: one('zlb_farm_sessions'), unit: 'short' },
    ],
  });
}

/** Less than nothing is past. */
export function expirySteps(threshold: Threshold, of: 'certificate' | 'activation'): Steps {
  return [
    [null, 'red'],
    [threshold(`${of}_expiry_imminent_seconds`), 'orange'],
    [threshold(`${of}_expiry_soon_seconds`), 'green'],
  ];
}
