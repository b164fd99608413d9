import { collectorDefaults } from '../collectors/registry.ts';
import { createSettingsLoader } from '../config/load.ts';
import { operationRoutes } from '../admin/policy/policy.ts';
import { adminMetricFamilies } from '../admin/calls/admin-metrics.ts';
import type { Family, StateSet } from '../metrics/family.ts';
import { selfLabels } from '../metrics/self.ts';
import { applianceFamilies } from './appliance-families.ts';

/** Labels of Prometheus, and of the targets that `/sd` lists. */
const targetLabels = ['job', 'instance', 'exporter', 'le', 'quantile', 'alertname', 'alertstate'];
/** Labels that the rules in `alerts/` add; a test compares them. */
const ruleLabels = ['severity', 'fault', 'resource', 'event', 'certificate', 'scope'];

/** Loads settings, and knows every collector and operation there is. */
export const loadSettings = createSettingsLoader({
  collectorDefaults,
  reservedLabels: reservedLabels(),
  operations: operationRoutes(),
});

/**
 * Returns the label names that a configuration cannot give to an appliance. Prometheus keeps the
 * label of the target and renames the one of the metric (`exported_status`): alerts that read it
 * would never fire.
 */
export function reservedLabels(): readonly string[] {
  const names = [
    'appliance',
    ...applianceFamilies.flatMap(labelsOf),
    ...Object.values(adminMetricFamilies).flatMap((family) => ('labelNames' in family ? family.labelNames : [])),
    ...selfLabels,
    ...ruleLabels,
    ...targetLabels,
  ];
  return [...new Set(names)].toSorted();
}

function labelsOf(family: Family | StateSet): readonly string[] {
  return 'stateLabel' in family ? [...family.labels, family.stateLabel] : family.labels;
}
