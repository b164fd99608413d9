import { parse, stringify } from 'yaml';
import { isRecord } from '../../src/lib/check.ts';
import { parseDuration } from '../../src/lib/time.ts';

export interface PrometheusTargets {
  /** `host:port`. */
  readonly exporter: string;
  readonly alertmanager: string;
}

/**
 * Returns the configuration of deploy/ with the addresses of this machine instead of the names of
 * its containers.
 */
export function localPrometheusConfiguration(deployed: string, { exporter, alertmanager }: PrometheusTargets): string {
  return deployed.replaceAll('exporter:9444', exporter).replaceAll('alertmanager:9093', alertmanager);
}

/** As often as it takes to see something happen while one looks at it. */
export function quickened(prometheus: string): string {
  return prometheus.replaceAll(/(?<=(?:scrape|evaluation)_interval: )\w+/g, '5s');
}

/**
 * Two evaluations of the hurried rules: an alert that inhibits another one fires that much earlier.
 */
const secondsOfStep = 10;

/**
 * Returns the rule files as one, with short waits before alerts fire (`for`) and before they end
 * (`keep_firing_for`): 10 s for the shortest wait that ships, 10 s more for each longer one. The
 * order of the waits stays: an alert inhibits others only if it fires before them. No group is
 * evaluated more seldom than the others.
 */
export function impatientRules(files: readonly string[]): string {
  const groups = files.flatMap((text) => (parse(text) as { readonly groups: readonly RuleGroup[] }).groups);
  const waits = groups.flatMap((group) => group.rules.flatMap((rule) => waitsOf(rule).map(([, wait]) => wait)));
  const steps = [...new Set(waits.map((wait) => parseDuration(wait) ?? 0))].toSorted((one, other) => one - other);
  const seconds = (wait: string) => (steps.indexOf(parseDuration(wait) ?? 0) + 1) * secondsOfStep;
  return stringify({
    groups: groups.map((group) => ({
      ...group,
      interval: '5s',
      rules: group.rules.map((rule) => ({
        ...rule,
        ...Object.fromEntries(waitsOf(rule).map(([key, wait]) => [key, `${seconds(wait)}s`])),
      })),
    })),
  });
}

interface RuleGroup {
  readonly rules: readonly Readonly<Record<string, unknown>>[];
}

function waitsOf(rule: Readonly<Record<string, unknown>>): readonly (readonly [key: string, wait: string])[] {
  return ['for', 'keep_firing_for'].flatMap((key) => (key in rule ? [[key, String(rule[key])] as const] : []));
}

/** The receivers of this machine. */
export interface LocalReceivers {
  /** The URL of the webhook in the place of people. */
  readonly people: string;
  /** The gateway that proposes repairs, if any. */
  readonly gateway?: { readonly url: string; readonly tokenFile: string };
}

/** The receiver of the example that is the gateway. */
const gatewayReceiver = 'repairs';

/**
 * The routes and inhibitions of a configuration of Alertmanager as they are, except that every
 * receiver is a webhook here and groups wait for seconds, so that who tries something sees it
 * happen.
 */
export function localAlertmanagerConfiguration(
  example: string,
  { people, gateway }: LocalReceivers,
  waits: Waits = { groupWait: '5s', groupInterval: '15s' },
): string {
  const { route, receivers, inhibit_rules, time_intervals } = parse(example) as AlertmanagerConfiguration;
  return stringify({
    route: impatient(route, waits),
    receivers: receivers.map(({ name }) =>
      name === gatewayReceiver
        ? { name, webhook_configs: gateway ? [proposing(gateway)] : [] }
        : { name, webhook_configs: [{ url: people, send_resolved: true }] },
    ),
    ...(inhibit_rules ? { inhibit_rules } : {}),
    ...(time_intervals ? { time_intervals } : {}),
  });
}

function proposing({ url, tokenFile }: NonNullable<LocalReceivers['gateway']>): object {
  const authorization = { credentials_file: tokenFile };
  return { url: `${url}/alerts`, send_resolved: true, http_config: { authorization } };
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
