import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertThresholds } from '../../src/state/alert-thresholds.ts';
import { allLevels } from '../../src/state/level.ts';
import { knownSeries } from '../support/known-series.ts';
import { shippedRules } from '../support/shipped-rules.ts';

interface Trigger {
  readonly uuid: string;
  readonly name: string;
  readonly expression: string;
  readonly recovery_expression?: string;
  readonly priority: string;
  readonly tags: readonly { readonly tag: string; readonly value: string }[];
}

interface Item {
  readonly uuid: string;
  readonly key: string;
  readonly preprocessing: readonly { readonly type: string; readonly parameters: readonly string[] }[];
}

interface Template {
  readonly items: readonly Item[];
  readonly discovery_rules: readonly (Item & {
    readonly item_prototypes: readonly Item[];
    readonly trigger_prototypes?: readonly Trigger[];
  })[];
  readonly macros: readonly { readonly macro: string; readonly value?: string }[];
}

const text = readFileSync('deploy/zabbix/zlb-exporter.yaml', 'utf8');
const { zabbix_export: file } = parse(text) as {
  readonly zabbix_export: { readonly templates: readonly [Template]; readonly triggers: readonly Trigger[] };
};
const [template] = file.templates;
const discoveries = template.discovery_rules;
const items = [...template.items, ...discoveries.flatMap((rule) => rule.item_prototypes)];
const triggers = [...file.triggers, ...discoveries.flatMap((rule) => rule.trigger_prototypes ?? [])];
const macros = new Map(template.macros.map(({ macro, value }) => [macro, value]));
const alertOf = ({ tags }: Trigger) => tags.find(({ tag }) => tag === 'alert')?.value ?? '';

describe('deploy/zabbix/zlb-exporter.yaml', () => {
  it('uses only items that it has in its triggers', () => {
    const keys = new Set(items.map(({ key }) => `/zlb-exporter/${key}`));
    const asked = triggers.flatMap(({ expression, recovery_expression: recovery = '' }) => [
      ...`${expression} ${recovery}`.matchAll(/\/zlb-exporter\/[a-z._]+(?:\[[^\]]*\])?/g),
    ]);

    expect(asked.length).toBeGreaterThan(triggers.length);
    expect(asked.map(([key]) => key).filter((key) => !keys.has(key))).toEqual([]);
  });

  it('defines each macro that it uses, with its context', () => {
    const used = [...text.replaceAll('\\"', '"').matchAll(/\{\$[A-Z_.]+(?::"\w+")?/g)].map(([macro]) => `${macro}}`);

    expect(used.filter((macro) => !macros.has(macro))).toEqual([]);
  });

  it('identifies each of its parts by a unique number, in the form that Zabbix expects', () => {
    const numbers = [...items, ...discoveries, ...triggers].map(({ uuid }) => uuid);

    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.filter((uuid) => !/^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/.test(uuid))).toEqual([]);
  });

  it('reads only series of the exporter', async () => {
    const series = await knownSeries();
    const own = new Set(['zlb_exporter_build_info', 'zlb_exporter_config_last_reload_successful']);
    const named = [...items, ...discoveries].flatMap(({ preprocessing }) =>
      preprocessing
        .filter(({ type }) => type.startsWith('PROMETHEUS'))
        .map(({ parameters }) => /^\w+/.exec(parameters[0] ?? '')?.[0] ?? ''),
    );

    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((metric) => !series.has(metric) && !own.has(metric))).toEqual([]);
  });

  it('has the thresholds and durations of the alerts', () => {
    expect(Object.fromEntries(macros)).toMatchObject({
      '{$ZLB.CPU.MAX}': `${alertThresholds.cpuBusyRatio}`,
      '{$ZLB.MEMORY.MAX}': `${alertThresholds.memoryUsedRatio}`,
      '{$ZLB.PENDING.MAX}': `${alertThresholds.pendingConnections}`,
      '{$ZLB.PENDING.RATIO}': `${alertThresholds.pendingConnectionsRatio}`,
    });
    for (const trigger of triggers.filter((each) => alertOf(each) !== '')) {
      const rule = shippedRules.find(({ alert }) => alert === alertOf(trigger));
      const time = macros.get(`{$ZLB.FOR:"${alertOf(trigger)}"}`);
      const seconds = Number(/<= time\(\) - (\d+)/.exec(rule?.expr ?? '')?.[1]);
      if (time !== undefined) expect(time, trigger.name).toBe(rule?.for ?? `${seconds / 60}m`);
      expect(trigger.priority, trigger.name).toBe(
        { critical: 'HIGH', warning: 'WARNING', info: 'INFO' }[rule?.labels?.severity ?? ''],
      );
    }
  });

  it('raises and resolves what the exporter reports by its states, and resolves nothing without data', () => {
    const patterns = (text = '') => [...text.matchAll(/"regexp","(\^[^"]+)"/g)].map(([, pattern = '']) => pattern);
    const words = [...allLevels, 'no reading'];
    const matching = (pattern = '$.') => words.filter((word) => new RegExp(pattern).test(`${word}: Farm www is down`));
    const judged = triggers.filter(({ expression }) => expression.includes('zlb.level['));

    const found = judged.map(({ priority, expression, recovery_expression: recovery }) => [
      priority,
      ...[...patterns(expression), ...patterns(recovery)].map((pattern) => matching(pattern).join()),
    ]);

    expect(found).toEqual([
      ['HIGH', 'critical', 'warning,paused,well', 'warning,paused,well'],
      ['WARNING', 'warning', 'paused,well', 'critical,paused,well'],
      ['WARNING', 'unknown', 'critical,warning,paused,well', 'critical,warning,paused,well'],
    ]);
  });
});
