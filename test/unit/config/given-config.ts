import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operationRoutes } from '../../../src/admin/policy/policy.ts';
import type { CollectorSettings, Settings } from '../../../src/config/settings.ts';
import { createSettingsLoader } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problems.ts';
import { givenFolder } from '../../support/folder.ts';

/** The collectors with intervals of their own. */
export const collectorDefaults: ReadonlyMap<string, CollectorSettings> = new Map([
  ['farms', { enabled: true, schedule: '*/30 * * * * *', maxStaleMs: 180_000 }],
  ...['summary', 'backends', 'system', 'interfaces'].map(
    (name) => [name, { enabled: true, schedule: '0 * * * * *', maxStaleMs: 300_000 }] as const,
  ),
  ...['certificates', 'activation', 'appliance', 'farm_config'].map(
    (name) => [name, { enabled: true, schedule: '0 */10 * * * *', maxStaleMs: 3_600_000 }] as const,
  ),
  ...['packages', 'backups', 'vpn', 'cluster', 'connections'].map(
    (name) => [name, { enabled: true, schedule: '0 */30 * * * *', maxStaleMs: 7_200_000 }] as const,
  ),
  ['vip', { enabled: false, schedule: '0 * * * * *', maxStaleMs: 300_000 }],
  ['ipds', { enabled: false, schedule: '0 */30 * * * *', maxStaleMs: 7_200_000 }],
]);

const reservedLabels = ['appliance', 'job', 'status'];

export const operations = operationRoutes();

/** Compiles the schema once for all tests of a file. */
export const loadSettings = createSettingsLoader({ collectorDefaults, reservedLabels, operations });

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Contents by name, in the folder of the configuration. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** Loads a file `zlb.yml` with this text from a folder of its own. */
export async function loadText(
  text: string | Uint8Array,
  { env = {}, files = {} }: Surroundings = {},
): Promise<Settings> {
  const folder = givenFolder();
  for (const [name, contents] of Object.entries({ ...files, 'zlb.yml': text })) {
    await writeFile(join(folder, name), contents);
  }
  const file = join(folder, 'zlb.yml');
  return loadSettings({ file, env });
}

/** The last line of a refusal by one of the first checks. */
export const furtherChecks = ': further checks follow once this is corrected, such as those of the files that it names';

/** The lines of a refusal about its problems, without the folders of the file. */
export async function refusal(loading: Promise<unknown>): Promise<readonly string[]> {
  return (await wholeRefusal(loading)).filter((line) => !line.endsWith(furtherChecks));
}

/** The lines of a refusal, without the folders of the file. */
export async function wholeRefusal(loading: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigError)) throw new Error('expected a ConfigError', { cause: error });
  return error.message.split('\n').map((line) => line.replace(/^\/\S*\//, ''));
}
