import { collectorDefaults } from '../collectors/registry.ts';
import { createSettingsLoader, type SettingsSource } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { operationRoutes } from '../admin/policy/policy.ts';
import { reservedLabels } from './reserved-labels.ts';

/** Creates a loader of settings that knows every collector and operation there is. */
export function createLoader(): (from: SettingsSource) => Promise<Settings> {
  return createSettingsLoader({
    collectorDefaults,
    reservedLabels: reservedLabels(),
    operations: operationRoutes(),
  });
}

/** Loads the settings once. */
export function loadSettings(from: SettingsSource): Promise<Settings> {
  return createLoader()(from);
}
