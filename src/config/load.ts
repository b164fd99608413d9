import { setImmediate as nextTurn } from 'node:timers/promises';

import { assert, isRecord } from '../lib/check.ts';
import { checkAdmin } from './admin-checks.ts';
import { toAdminSettings } from './admin-settings.ts';
import { checkCombinations, sharedAddresses } from './checks.ts';
import type { CollectorSettings } from './collectors.ts';
import { withApplianceFiles } from './appliance-files.ts';
import { readEnvironment, reportMisspelt } from './environment.ts';
import type { ReadText } from './file-text.ts';
import { createFiles, type Files } from './files.ts';
import { createOpenFile, openAdminFiles, type Opened, openFiles } from './open-files.ts';
import type { OperationRoutes } from './operation-list.ts';
import { createProblems, type Path, type Problems } from './problems.ts';
import { type ConfigFile, configSchema } from './schema.ts';
import { type Settings, toSettings } from './settings.ts';
import { createStructureReader, type StructureReader } from './structure.ts';
import type { Environment } from './substitute.ts';
import { readYamlFile, type Source } from './yaml-file.ts';

export interface SettingsSource {
  /** Path of the YAML file; without one the environment names the appliance. */
  readonly file?: string;
  readonly env: Environment;
  /** Reads the files; given by a caller that asks later whether they changed. */
  readonly files?: Files;
  /** Called with a line about each thing that is allowed and probably a mistake. */
  readonly onRemark?: (line: string) => void;
}

/** What a configuration may refer to. */
export interface SettingsScope {
  /** The defaults of each collector; the configuration may name only these. */
  readonly collectorDefaults: ReadonlyMap<string, CollectorSettings>;
  /** The operations that tokens of the admin gateway may allow and deny. */
  readonly operations: OperationRoutes;
}

/**
 * Loads the settings from a file, the environment or both; rejects with a ConfigError that names
 * all problems.
 */
export type LoadSettings = (from: SettingsSource) => Promise<Settings>;

/** Creates a loader, which compiles the schema once for many loads. */
export function createSettingsLoader(scope: SettingsScope): LoadSettings {
  const readStructure = createStructureReader(configSchema([...scope.collectorDefaults.keys()]));
  return (from) => load(from, scope, readStructure);
}

/** Loads the settings once. */
export function loadSettings(from: SettingsSource & SettingsScope): Promise<Settings> {
  return createSettingsLoader(from)(from);
}

async function load(
  { file, env, files: allFiles = createFiles({ path: file }), onRemark }: SettingsSource,
  { collectorDefaults, operations }: SettingsScope,
  readStructure: StructureReader<ConfigFile>,
): Promise<Settings> {
  const problems = createProblems();
  const usedVariables = new Set<string>();
  const files = notingVariables(allFiles, usedVariables);
  const main =
    file === undefined ? readEnvironment(env, problems) : await readFileAndEnvironment(file, env, files, problems);
  if (main === undefined) throw problems.error();
  const source = await withApplianceFiles({ source: main, env, files, problems });
  reportMisspelt(env, usedVariables, problems);

  // Lets other work run: each step takes 0.1 s for a thousand appliances.
  await nextTurn();
  const { whole, partly } = readStructure(source, problems);
  const open = createOpenFile(source, files.readText, problems);
  const opened: Opened[] = [];
  // One after the other: a process may not have thousands of files open at once.
  for (const [index, appliance] of (partly.appliances ?? []).entries())
    opened.push(await openFiles(appliance, ['appliances', index], open));
  const openedAdmin = await openAdminFiles(partly.admin, open);
  await nextTurn();
  checkCombinations({ config: partly, source, collectorDefaults, problems });
  checkAdmin({ config: partly, source, opened: openedAdmin, operations, problems });
  if (!problems.isEmpty()) throw problems.error();

  await nextTurn();
  assert(whole, 'what does not fit the schema is a problem');
  if (onRemark) sharedAddresses(whole, source).forEach(onRemark);
  const { admin } = whole;
  const folder = source.folderOf(['admin']);
  return {
    ...toSettings(whole, opened, collectorDefaults),
    ...(admin && { admin: toAdminSettings({ admin, opened: openedAdmin, folder, operations }) }),
  };
}

/** Reads the same files, and adds the names of the variables that configuration files use. */
function notingVariables({ list, readText }: Pick<Files, 'list' | 'readText'>, used: Set<string>) {
  const noting: ReadText = async (path, purpose) => {
    const text = await readText(path, purpose);
    if (purpose === 'configuration' && 'value' in text)
      for (const [, name = ''] of text.value.matchAll(/\$\{(\w+)\}/g)) used.add(name);
    return text;
  };
  return { list, readText: noting };
}

/**
 * Reads a file, which may leave the appliance to the environment. Appliances in both are ambiguous,
 * and a problem.
 */
async function readFileAndEnvironment(
  file: string,
  env: Environment,
  { readText }: Pick<Files, 'readText'>,
  problems: Problems,
): Promise<Source | undefined> {
  const source = await readYamlFile({
    file,
    remedy: 'Give --config.file the path of a YAML file',
    minimalContent: 'list at least one appliance in it (docs/configuration.md)',
    env,
    readText,
    problems,
  });
  if (source === undefined || !isRecord(source.value) || !env.ZLB_APPLIANCE_URL) return source;
  if ('appliances' in source.value) {
    problems.report(
      { file: 'environment', key: 'ZLB_APPLIANCE_URL' },
      `is set while ${file} lists appliances; unset it, or move that appliance into the file`,
    );
    return source;
  }
  const environment = readEnvironment(env, problems);
  const originOf = (path: Path) => (path[0] === 'appliances' ? environment : source);
  return {
    value: Object.assign(source.value, environment.value),
    folderOf: (path) => originOf(path).folderOf(path),
    locate: (path, part) => originOf(path).locate(path, part),
  };
}
