import { describe, expect, it } from 'vitest';
import { filled, queriesOf, readBoards } from '../support/dashboards.ts';
import { knownSeries } from '../support/known-series.ts';
import { labelFlow } from '../support/label-flow.ts';
import { groupingLabelsOf, groupsByNothing, selectorsOf } from '../support/promql.ts';
import { labellings, labelsOfRules } from '../support/rule-labels.ts';
import { shippedRules } from '../support/shipped-rules.ts';

/** Labels that say which exporter watches an appliance. */
const watching: readonly string[] = ['job', 'instance', 'exporter'];
/** Rules that ask across exporters, and across the nodes of a cluster. */
const acrossExporters =
  /^(Zlb(FarmsUnknown|FarmUnreachable|ApplianceVanished|ApplianceClockWrong)|appliance:zlb_up:(away|gone|together)|farm:zlb_farm_status:(down|gone)|farm:zlb_farm_reachable:failing|ZlbApplianceDown|node:zlb_cluster_node_status:role|cluster:zlb_cluster_nodes:(count|masters)|target:up:alone|farm:zlb_farm_status:cut|exporter:zlb_appliance_clock_offset_seconds:median)$/;
const acrossAppliances =
  /^(appliance:zlb_up:(gone|together)|ZlbApplianceDown|ZlbApplianceClockWrong|node:zlb_cluster_node_status:role|cluster:zlb_cluster_nodes:(count|masters)|farm:zlb_farm_status:cut|exporter:zlb_appliance_clock_offset_seconds:median|ZlbAdminGateway)$/;
/** Series of Prometheus itself, or of a process: they lack what is added after a scrape. */
const ofTargets = /^(up|process_\w+|target:\S+)$/;

/** Returns what an expression does to the labels of its targets, as a text for each fault. */
function faultsOf(rule: string, expression: string): readonly string[] {
  return groupingLabelsOf(expression).flatMap(({ clause, label, operands }) => {
    const joinsTargets = operands.some(({ selectors }) => selectors.some(({ metric }) => ofTargets.test(metric)));
    if (clause === 'on' && ['job', 'instance'].includes(label) && joinsTargets) return [];
    if (clause === 'by' || clause === 'on') return [`${clause} (${label}) drops the labels of the target`];
    if (clause === 'group_left' || clause === 'group_right') return [];
    if (watching.includes(label) && !acrossExporters.test(rule)) return [`${clause} (${label}) joins exporters`];
    if (['site', 'cluster', 'region'].includes(label)) return [`${clause} (${label}) joins environments`];
    return [];
  });
}

describe('joins of the rules', () => {
  it('keep the labels of the target, so that two environments may have the same names', () => {
    const faults = shippedRules.flatMap(({ alert, record = '', expr }) =>
      faultsOf(alert ?? record, expr).map((fault) => `${alert ?? record}: ${fault}`),
    );

    expect(faults).toEqual([]);
  });

  it('leave out the appliance only where the nodes of a cluster, or all appliances of an exporter, are meant', () => {
    const across = shippedRules.flatMap(({ alert, record = '', expr }) =>
      groupingLabelsOf(expr).some(({ label }) => label === 'appliance') ? [alert ?? record] : [],
    );

    expect(across.filter((rule) => !acrossAppliances.test(rule))).toEqual([]);
  });

  it('are made on no label at all only with a count of everything', () => {
    const rules = shippedRules.filter(({ expr }) => groupsByNothing(expr)).map(({ alert, record }) => alert ?? record);

    expect(rules).toEqual(['ZlbWatchdog', 'ZlbExporterDown', 'ZlbExporterOfPairDown', 'ZlbApplianceVanished']);
  });
});

describe.each(Object.entries(labellings))('with %s', (_, labelling) => {
  it('both sides of every join have labels that can match', async () => {
    const formsOf = labelsOfRules(await knownSeries(), labelling);
    const impossible = shippedRules.flatMap(({ alert, record, expr }) =>
      labelFlow(expr, formsOf).impossible.map((join) => `${alert ?? record}: ${join}`),
    );

    expect(impossible).toEqual([]);
    for (const { alert, record, expr } of shippedRules)
      if (selectorsOf(expr).length > 0) expect(labelFlow(expr, formsOf).forms, alert ?? record).not.toEqual([]);
  });

  it('both sides of every join of the boards have them too', async () => {
    const formsOf = labelsOfRules(await knownSeries(), labelling);
    const impossible = readBoards().flatMap((board) =>
      queriesOf(board).flatMap(({ where, expr }) =>
        labelFlow(filled(expr), formsOf).impossible.map((join) => `${where}: ${join}`),
      ),
    );

    expect(impossible).toEqual([]);
  });

  it('a join with `up` that leaves out the appliance can match or not, as its labels say', async () => {
    const formsOf = labelsOfRules(await knownSeries(), labelling);
    const { impossible } = labelFlow('zlb_up and ignoring (appliance) up == 0', formsOf);

    expect(impossible.length > 0).toBe((labelling.appliances as readonly string[]).includes('site'));
  });
});
