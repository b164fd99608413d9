import { collectorDefaults } from '../../src/collectors/registry.ts';
import { createSettingsLoader } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { operationRoutes } from '../../src/gateway/policy.ts';

const load = createSettingsLoader({ collectorDefaults, operations: operationRoutes() });

/** Returns the settings of a configuration file with this content; the rest are the defaults. */
export async function settingsOf(content: object): Promise<Settings> {
  return await load({ content, env: {} });
}
