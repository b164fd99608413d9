import { parse, stringify } from 'yaml';
import { isRecord } from '../../src/lib/check.ts';

export interface PrometheusTargets {
  /** `host:port`. */
  readonly exporter: string;
  readonly alertmanager: string;
}

/** The configuration of deploy/ with the addresses of this machine in place of the names of its containers. */
export function localPrometheusConfiguration(deployed: string, { exporter, alertmanager }: PrometheusTargets): string {
  return deployed.replaceAll('exporter:9444', exporter).replaceAll('alertmanager:9093', alertmanager);
}

/** As often as it takes to see something happen while one looks at it. */
export function quickened(prometheus: string): string {
  return prometheus.replaceAll(/(?<=(?:scrape|evaluation)_interval: )\w+/g, '5s');
}

/** The alerts as they ship, but none waits longer than this: neither before it fires, nor before it ends. */
export function impatientRules(rules: string, longest: string): string {
  const { groups } = parse(rules) as { readonly groups: readonly RuleGroup[] };
  return stringify({
    groups: groups.map((group) => ({ ...group, rules: group.rules.map((each) => shorten(each, longest)) })),
  });
}

interface RuleGroup {
  readonly rules: readonly Readonly<Record<string, unknown>>[];
}

function shorten(rule: Readonly<Record<string, unknown>>, longest: string): Readonly<Record<string, unknown>> {
  const waits = ['for', 'keep_firing_for'].filter((key) => key in rule);
  return { ...rule, ...Object.fromEntries(waits.map((key) => [key, longest])) };
}

/**
 * The routes and inhibitions of a configuration of Alertmanager as they are, except that every receiver is the webhook and
 * groups wait for seconds, so that who tries something sees it happen.
 */
export function localAlertmanagerConfiguration(
  example: string,
  webhook: string,
  waits: Waits = { groupWait: '5s', groupInterval: '15s' },
): string {
  const { route, receivers, inhibit_rules, time_intervals } = parse(example) as AlertmanagerConfiguration;
  return stringify({
    route: impatient(route, waits),
    receivers: receivers.map(({ name }) => ({ name, webhook_configs: [{ url: webhook, send_resolved: true }] })),
    ...(inhibit_rules ? { inhibit_rules } : {}),
    ...(time_intervals ? { time_intervals } : {}),
  });
}

interface AlertmanagerConfiguration {
  readonly route: Readonly<Record<string, unknown>>;
  readonly receivers: readonly { readonly name: string }[];
  readonly inhibit_rules?: unknown;
  readonly time_intervals?: unknown;
}

/** How long Alertmanager gathers what belongs together, as it writes times. */
export interface Waits {
  readonly groupWait: string;
  readonly groupInterval: string;
}

function impatient(route: Readonly<Record<string, unknown>>, waits: Waits): unknown {
  const { routes, ...rest } = route;
  return {
    ...rest,
    group_wait: waits.groupWait,
    group_interval: waits.groupInterval,
    ...(Array.isArray(routes) ? { routes: routes.filter(isRecord).map((each) => impatient(each, waits)) } : {}),
  };
}
