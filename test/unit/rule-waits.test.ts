import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDuration } from '../../src/lib/time.ts';
import { readsOf, selectorsOf } from '../support/promql.ts';
import { shippedFiles, shippedRules } from '../support/shipped-rules.ts';

// Prometheus restores the wait of an alert after a restart only if it is ten minutes or longer
// (`--rules.alert.for-grace-period`), and Alertmanager takes what it does not hear of for four minutes
// as ended: of these, a restart may take one and a half.

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
}

const restoredMs = 10 * 60_000;
const briefMs = 150_000;
const alerts = shippedRules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const waitOf = ({ for: wait = '0s' }: { readonly for?: string }) => parseDuration(wait) ?? Number.NaN;

it('no alert waits long enough to lose its state in a Prometheus restart, but too short to be restored', () => {
  const lost = alerts.filter((alert) => waitOf(alert) > briefMs && waitOf(alert) < restoredMs);

  expect(lost.map(({ alert }) => alert)).toEqual([]);
});

// After a restart, a restored alert fires at the third evaluation: in a group of a minute, that is too late.
it('no page waits in the memory of Prometheus', () => {
  const pages = alerts.filter(({ labels }) => labels?.['severity'] === 'critical');

  expect(pages.length).toBeGreaterThan(0);
  expect(pages.filter((page) => waitOf(page) > 0).map(({ alert }) => alert)).toEqual([]);
});

it('an alert that inhibits others waits no longer than they do', () => {
  const { inhibit_rules: rules } = parse(readFileSync('alerts/alertmanager.example.yml', 'utf8')) as {
    readonly inhibit_rules: readonly InhibitRule[];
  };
  const matching = (matchers: readonly string[]) =>
    alerts.filter(({ alert, labels }) => isMatched(matchers, { ...labels, alertname: alert }));
  const late = rules.flatMap(({ source_matchers, target_matchers }) =>
    matching(source_matchers).flatMap((source) =>
      matching(target_matchers)
        .filter((target) => source !== target && waitOf(target) < waitOf(source))
        .map((target) => `${target.alert} before ${source.alert}`),
    ),
  );

  expect(late).toEqual([]);
});

it('an alert does not re-evaluate the event of the last day that triggered it', () => {
  const memories =
    /^(farm:zlb_farm_reachable:ok|farm:zlb_farm_status:ran|interface:zlb_interface_up:used|appliance:zlb_farm_status:served)$/;
  const asking = shippedRules.filter(({ record = '', expr }) => {
    const read = selectorsOf(expr).map(({ metric }) => metric);
    return read.some((metric) => memories.test(metric)) && !read.includes(record);
  });

  expect(asking.map(({ alert, record }) => alert ?? record)).toEqual([
    // What it asks lasts as long as the failure.
    'farm:zlb_farm_reachable:failed',
    // A farm that has been stopped for a day is meant to be.
    'farm:zlb_farm_status:lost',
    'farm:zlb_farm_status:cut',
    // Held by `since`, which it replaces.
    'object:zlb_down:now',
    // Remembers `ran` itself, over an outage of Prometheus.
    'farm:zlb_farm_status:ran1d',
  ]);
});

// Prometheus 3 reads at a moment what is less than five minutes old, so not the evaluation before.
it('a rule that is evaluated every five minutes reads its own recorded values over a range', () => {
  const rules = shippedFiles
    .flat()
    .flatMap(({ interval, rules }) =>
      rules.map((rule) => ({ ...rule, seconds: (parseDuration(interval ?? '1m') ?? Number.NaN) / 1_000 })),
    );
  const forgotten = rules.filter(({ record, expr, seconds }) =>
    readsOf(expr).some(({ metric, rangeSeconds }) => metric === record && seconds >= 300 && rangeSeconds <= seconds),
  );

  expect(forgotten.map(({ record }) => record)).toEqual([]);
});

/** Whether the fixed labels of an alert fit; a label that its series add can be anything. */
function isMatched(matchers: readonly string[], labels: Readonly<Record<string, string>>): boolean {
  return matchers.every((matcher) => {
    const [, label = '', op = '', value = ''] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(matcher) ?? [];
    const own = labels[label];
    if (own === undefined) return label !== 'alertname' && label !== 'severity';
    const isSame = op.endsWith('~') ? new RegExp(`^(?:${value})$`).test(own) : own === value;
    return op.startsWith('!') ? !isSame : isSame;
  });
}
