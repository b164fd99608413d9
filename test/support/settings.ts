import { loadSettings } from '../../src/app/load-settings.ts';
import type { Settings } from '../../src/config/settings.ts';

/** Returns the settings of a configuration file with this content; the rest are the defaults. */
export async function settingsOf(content: object): Promise<Settings> {
  return await loadSettings({ content, env: {} });
}
