import { describe, expect, it } from 'vitest';
import { groupingLabelsOf, groupsByNothing } from '../support/promql.ts';
import { shippedRules } from '../support/shipped-rules.ts';

// promtool evaluates rules on series that somebody wrote down, and pint reads one expression: neither
// knows which labels a target, a configuration or relabelling may add to all series.

/** Labels that say which exporter watches an appliance. */
const watching: readonly string[] = ['job', 'instance', 'exporter'];
/** Rules that ask across exporters, and across the nodes of a cluster. */
const acrossExporters =
  /^(Zlb(ExporterDown|ApplianceVanished|ApplianceDown|ClusterFault)|appliance:zlb_up:(unwatched|away|gone|renamed|taken|together|along)|appliance:zlb_farm_info:master|appliance:zlb_farm_status:unread|farm:zlb_farm_status:(down|gone|lost|cut|unready)|(address:zlb_farm_info:twice|farm:zlb_farm_info:(elsewhere|left))|farm:zlb_farm_reachable:(failed|failing|page)|service:zlb_farm_backends:none|object:zlb_down:now|farm:zlb_objective:burns|appliance:zlb_cluster_node_status:paired|cluster:zlb_cluster_nodes:(count|masters|rivals)|file:zlb_certificate_remaining:(imminent|page)|appliance:zlb_activation_remaining:imminent|farm:zlb_served_certificate_remaining:imminent|target:up:(alone|vanished))$/;
const acrossAppliances =
  /^(appliance:zlb_up:(renamed|together|along)|Zlb(ApplianceDown|ClusterFault|AdminGateway)|appliance:zlb_cluster_node_status:paired|cluster:zlb_cluster_nodes:(count|masters|rivals)|farm:zlb_farm_status:(cut|unready)|(address:zlb_farm_info:twice|farm:zlb_farm_info:(elsewhere|left))|farm:zlb_farm_reachable:page|file:zlb_certificate_remaining:page|farm:zlb_served_certificate_remaining:imminent)$/;
/** Rules about an exporter, at all of its sites. */
const ofExporters =
  /^(Zlb(ExporterFault|ApplianceDown|ApplianceClockWrong|ExporterOfPairDown)|appliance:zlb_up:(along|together)|exporter:.+|target:up:vanished)$/;
/** Series of Prometheus itself, or of a process: they lack what is added after a scrape. */
const ofTargets = /^(up|process_\w+|target:\S+)$/;

/** Returns what an expression does to the labels of its targets, as a text for each fault. */
function faultsOf(rule: string, expression: string): readonly string[] {
  return groupingLabelsOf(expression).flatMap(({ clause, label, operands }) => {
    const joinsTargets = operands.some((metrics) => metrics.some((metric) => ofTargets.test(metric)));
    if (clause === 'on' && watching.includes(label) && joinsTargets) return [];
    if (['job', 'instance', 'exporter', 'scope'].includes(label) && ofExporters.test(rule)) return [];
    if (clause === 'by' || clause === 'on') return [`${clause} (${label}) drops the labels of the target`];
    if (clause === 'group_left' || clause === 'group_right') return [];
    if (watching.includes(label) && !acrossExporters.test(rule)) return [`${clause} (${label}) joins exporters`];
    if (['site', 'cluster', 'region'].includes(label)) return [`${clause} (${label}) joins environments`];
    return [];
  });
}

describe('the joins of the rules', () => {
  it('keep the labels of the target, so that two environments may use the same names', () => {
    const faults = shippedRules.flatMap(({ alert, record = '', expr }) =>
      faultsOf(alert ?? record, expr).map((fault) => `${alert ?? record}: ${fault}`),
    );

    expect(faults).toEqual([]);
  });

  it('drop the appliance label only for cluster nodes, or for all appliances of an exporter', () => {
    const across = shippedRules.flatMap(({ alert, record = '', expr }) =>
      groupingLabelsOf(expr).some(({ label }) => label === 'appliance') ? [alert ?? record] : [],
    );

    expect(across.filter((rule) => !acrossAppliances.test(rule))).toEqual([]);
  });

  it('match on no label at all only with a count of everything', () => {
    const rules = shippedRules.filter(({ expr }) => groupsByNothing(expr)).map(({ alert, record }) => alert ?? record);

    expect(rules).toEqual(['ZlbWatchdog', 'fleet:zlb_up:none', 'ZlbExporterOfPairDown', 'ZlbApplianceVanished']);
  });
});
