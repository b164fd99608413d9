import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { alertThresholds } from '../../src/lib/alert-thresholds.ts';
import { readRuleFiles } from '../rule-files.ts';
import { appliances, exporterItems, exporterTriggers } from './watched.ts';
import { helpOf, type Labels, selector } from './catalogue.ts';
import { type Discovery, expiryMacros, type Item, type Trigger } from './parts.ts';
import { objects } from './objects.ts';

const template = 'zlb-exporter';
const masterKey = 'zlb.metrics';
/** Replaces the page of metrics while the exporter does not answer. */
const noAnswer = '# The exporter does not answer';

interface Alert {
  readonly alert?: string;
  readonly for?: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: { readonly summary: string };
}

const alerts: ReadonlyMap<string, Alert> = new Map(
  readRuleFiles().flatMap((text) => {
    const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
    return groups.flatMap(({ rules }) => rules.map((rule) => [rule.alert ?? '', rule] as const));
  }),
);
const severities: Readonly<Record<string, string>> = { critical: 'HIGH', warning: 'WARNING', info: 'INFO' };

/** The owner of items and triggers: the exporter, or something that a discovery finds. */
interface Place {
  /** The first part of the keys. */
  readonly key: string;
  /** The labels that name it, beside `appliance`; undefined for the exporter. */
  readonly labels: readonly string[] | undefined;
  /** Its name for people. */
  readonly subject: string;
}

const exporter: Place = { key: 'exporter', labels: undefined, subject: 'zlb-exporter' };

/** Returns the text of deploy/zabbix/zlb-exporter.yaml, a template for Zabbix 6.0 and newer. */
export function zabbixTemplate(): string {
  const group = 'Templates/Network devices';
  const document = {
    zabbix_export: {
      version: '6.0',
      // Zabbix' own identifier of this group.
      groups: [{ uuid: '36bff6c29af64692839d077febfc7079', name: group }],
      templates: [
        {
          uuid: uuidOf('template'),
          template,
          name: 'Load balancers by zlb-exporter',
          description: 'Load balancers, read from a running zlb-exporter. Its docs/zabbix.md explains it.',
          groups: [{ name: group }],
          items: [masterItem(), ...exporterItems.map((item) => itemOf(exporter, item))],
          discovery_rules: [appliances, ...objects].map(discoveryOf),
          macros: macros(),
          valuemaps: [valueMap('Answers', { 0: 'no', 1: 'yes', 2: 'not known' })],
        },
      ],
      triggers: exporterTriggers.map((trigger) => triggerOf(exporter, trigger, exporterTriggers)),
    },
  };
  const head = '# Written by `npm run zabbix` from scripts/zabbix; change it there.\n';
  return `${head}${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

/** The page of metrics. It is not stored: the other items take their values from it. */
function masterItem(): object {
  return {
    uuid: uuidOf(masterKey),
    name: 'zlb-exporter: metrics',
    type: 'HTTP_AGENT',
    key: masterKey,
    delay: '{$ZLB.INTERVAL}',
    history: '0',
    trends: '0',
    value_type: 'TEXT',
    authtype: 'BASIC',
    username: '{$ZLB.USER}',
    password: '{$ZLB.PASSWORD}',
    description: 'All metrics of the exporter.',
    preprocessing: [
      // Without it, the last values would stay.
      step('CHECK_NOT_SUPPORTED', [''], { error_handler: 'CUSTOM_VALUE', error_handler_params: noAnswer }),
    ],
    timeout: '15s',
    url: '{$ZLB.URL}{$ZLB.PATH}',
    verify_peer: 'YES',
    verify_host: 'YES',
    tags: [{ tag: 'component', value: 'exporter' }],
  };
}

function itemOf(place: Place, item: Item): object {
  const { take = 'value', units, rateTimes, absent, valueMap: map } = item;
  const isText = take === 'state' || (typeof take === 'object' && 'label' in take);
  const ownLabels = place.labels && ['appliance', ...place.labels].filter((label) => !item.without?.includes(label));
  return {
    uuid: uuidOf(keyOf(place, item.key)),
    name: `${place.subject}: ${item.name}`,
    type: 'DEPENDENT',
    key: keyOf(place, item.key),
    delay: '0',
    history: '31d',
    ...(isText ? { trends: '0', value_type: 'CHAR' } : { value_type: 'FLOAT' }),
    ...(units && { units }),
    description: helpOf(item.metric),
    ...(map && { valuemap: { name: map } }),
    preprocessing: [
      step(
        'PROMETHEUS_PATTERN',
        patternOf(item, Object.fromEntries((ownLabels ?? []).map((label) => [label, macroOf(label)]))),
        absent === undefined ? {} : { error_handler: 'CUSTOM_VALUE', error_handler_params: absent },
      ),
      ...(rateTimes ? [step('CHANGE_PER_SECOND', ['']), step('MULTIPLIER', [`${rateTimes}`])] : []),
    ],
    master_item: { key: masterKey },
    tags: tagsOf(place),
  };
}

/** The parameters of a step that takes one value out of the page. */
function patternOf({ metric, where = {}, take = 'value' }: Item, labels: Labels): readonly string[] {
  const all = { ...labels, ...where };
  if (take === 'value') return [selector(metric, all), 'value', ''];
  if (take === 'state') return [selector(metric, all, ' == 1'), 'label', 'status'];
  if ('label' in take) return [selector(metric, all), 'label', take.label];
  return [selector(metric, all), 'function', take.function];
}

function discoveryOf(discovery: Discovery): object {
  const { key, name, metric, where = {}, labels, items, triggers } = discovery;
  return {
    uuid: uuidOf(`discovery ${key}`),
    name,
    type: 'DEPENDENT',
    key: `zlb.discovery.${key}`,
    delay: '0',
    filter: filterOf(labels),
    lifetime: '7d',
    description: helpOf(metric),
    item_prototypes: items.map((item) => itemOf(discovery, item)),
    trigger_prototypes: triggers.map((trigger) => triggerOf(discovery, trigger, triggers)),
    master_item: { key: masterKey },
    lld_macro_paths: ['appliance', ...labels].map((label) => ({
      lld_macro: macroOf(label),
      path: `$.labels['${label}']`,
    })),
    preprocessing: [
      // Nothing has gone because the exporter does not answer.
      step('NOT_MATCHES_REGEX', [`^${noAnswer}`], { error_handler: 'DISCARD_VALUE' }),
      step('PROMETHEUS_TO_JSON', [selector(metric, where)]),
      step('DISCARD_UNCHANGED_HEARTBEAT', ['{$ZLB.DISCOVERY}']),
    ],
  };
}

/** Farms and appliances that the macros let through. */
function filterOf(labels: readonly string[]): object {
  const filtered = ['appliance', ...labels.filter((label) => label === 'farm')];
  const conditions = filtered.flatMap((label) => [
    { macro: macroOf(label), value: `{$ZLB.${label.toUpperCase()}.MATCHES}` },
    { macro: macroOf(label), value: `{$ZLB.${label.toUpperCase()}.NOT_MATCHES}`, operator: 'NOT_MATCHES_REGEX' },
  ]);
  return {
    evaltype: 'AND',
    conditions: conditions.map((condition, index) => ({ ...condition, formulaid: String.fromCharCode(65 + index) })),
  };
}

function triggerOf(place: Place, trigger: Trigger, siblings: readonly Trigger[]): object {
  const { alert, about, unless = [] } = trigger;
  const { severity = '' } = alertOf(alert).labels ?? {};
  const explanations = siblings.filter((each) => unless.includes(each.alert));
  return {
    uuid: uuidOf(`trigger ${place.key} ${alert} ${about ?? ''}`),
    ...identityOf(place, trigger),
    ...(trigger.recovery === undefined ? {} : { recovery_mode: 'RECOVERY_EXPRESSION' }),
    url: `{$ZLB.URL}/docs/operations.md#${alert.toLowerCase()}`,
    priority: severities[severity],
    manual_close: 'YES',
    ...(explanations.length > 0 && { dependencies: explanations.map((each) => identityOf(place, each)) }),
    tags: [{ tag: 'alert', value: alert }, ...tagsOf(place)],
  };
}

/** The keys by which Zabbix knows a trigger. */
function identityOf(place: Place, { alert, about, problem, recovery }: Trigger): object {
  const summary = alertOf(alert).annotations?.summary.replace(/\.$/, '');
  return {
    expression: expressionOf(place, alert, problem),
    ...(recovery === undefined ? {} : { recovery_expression: expressionOf(place, alert, recovery) }),
    name: `${place.subject}: ${summary}${about === undefined ? '' : ` (${about})`}`,
  };
}

/** Puts the names of items and the macro of the time into an expression. */
function expressionOf(place: Place, alert: string, text: string): string {
  return text.replaceAll(/\$([a-z][a-z_.]*)/g, (_, word: string) =>
    word === 'for' ? timeMacro(alert) : `/${template}/${keyOf(place, word)}`,
  );
}

function alertOf(name: string): Alert {
  const alert = alerts.get(name);
  if (!alert) throw new Error(`there is no alert ${name}`);
  return alert;
}

function timeMacro(alert: string): string {
  return `{$ZLB.FOR:"${alert}"}`;
}

/** The thresholds and times of the alerts, and the settings of the user. */
function macros(): readonly object[] {
  const usesTime = ({ problem }: Trigger): boolean => problem.includes('$for');
  const timed = [exporterTriggers, appliances.triggers, ...objects.map(({ triggers }) => triggers)].flatMap((list) =>
    list.filter(usesTime).map(({ alert }) => alert),
  );
  const values: Readonly<Record<string, string>> = {
    '{$ZLB.URL}': 'http://127.0.0.1:9444',
    '{$ZLB.PATH}': '/metrics',
    '{$ZLB.USER}': '',
    '{$ZLB.INTERVAL}': '30s',
    '{$ZLB.DISCOVERY}': '10m',
    '{$ZLB.APPLIANCE.MATCHES}': '.*',
    '{$ZLB.APPLIANCE.NOT_MATCHES}': '^$',
    '{$ZLB.FARM.MATCHES}': '.*',
    '{$ZLB.FARM.NOT_MATCHES}': '^$',
    '{$ZLB.STALE.INTERVALS}': `${alertThresholds.collectorStaleIntervals}`,
    '{$ZLB.CPU.MAX}': `${alertThresholds.cpuBusyRatio}`,
    '{$ZLB.MEMORY.MAX}': `${alertThresholds.memoryUsedRatio}`,
    '{$ZLB.BACKENDS.UP.MIN}': `${alertThresholds.farmBackendsUpRatio}`,
    '{$ZLB.PENDING.MAX}': `${alertThresholds.pendingConnections}`,
    '{$ZLB.PENDING.RATIO}': `${alertThresholds.pendingConnectionsRatio}`,
    ...expiryMacros,
    ...Object.fromEntries(timed.map((alert) => [timeMacro(alert), alertOf(alert).for ?? '5m'])),
  };
  return [
    ...Object.entries(values).map(([macro, value]) => ({ macro, ...(value && { value }) })),
    { macro: '{$ZLB.PASSWORD}', type: 'SECRET_TEXT' },
  ];
}

function valueMap(name: string, words: Readonly<Record<string, string>>): object {
  const mappings = Object.entries(words).map(([value, newvalue]) => ({ value, newvalue }));
  return { uuid: uuidOf(`value map ${name}`), name, mappings };
}

function step(type: string, parameters: readonly string[], handler: object = {}): object {
  return { type, parameters, ...handler };
}

function tagsOf({ key, labels }: Place): readonly object[] {
  const component = { tag: 'component', value: key };
  return labels ? [component, { tag: 'appliance', value: macroOf('appliance') }] : [component];
}

/** `zlb.farm.state["{#APPLIANCE}","{#FARM}"]` */
function keyOf({ key, labels }: Place, last: string): string {
  const names = labels && ['appliance', ...labels].map((label) => `"${macroOf(label)}"`);
  return `zlb.${key}.${last}${names ? `[${names.join(',')}]` : ''}`;
}

function macroOf(label: string): string {
  return `{#${label.toUpperCase()}}`;
}

/** Returns the same identifier for the same name, in the form of a random one. */
function uuidOf(name: string): string {
  const digits = createHash('sha256').update(`zlb-exporter ${name}`).digest('hex').slice(0, 32);
  return `${digits.slice(0, 12)}4${digits.slice(13, 16)}8${digits.slice(17)}`;
}

if (import.meta.main)
  writeFileSync(new URL('../../deploy/zabbix/zlb-exporter.yaml', import.meta.url), zabbixTemplate());
