// Turns the YAML file and the environment into Settings, or rejects with all problems at once, each
// with its line and what to do. In order of time: yaml-file.ts (YAML and ${NAME}), structure.ts (the
// schema of schema.ts), settings-reader.ts (names with units, contents of files), checks.ts (what no
// schema can say), settings.ts (what each appliance inherits). It reads files and keeps no state. A
// text is parsed here once; all other code relies on the types of settings.ts.

import { dirname, join, resolve } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isRecord } from '../lib/check.ts';
import {
  type CollectorSettings,
  type OperationRoutes,
  type Settings,
  adminSettings,
  applianceSettings,
} from './settings.ts';
import { checkCombinations } from './checks.ts';
import { readEnvironment, reportMisspelt } from './environment.ts';
import { createFiles, type Files, withRemedy } from './files.ts';
import { ConfigError, Problems } from './problems.ts';
import { type ConfigSchema, configSchema } from './schema.ts';
import { createSettingsReader, type SettingsReader } from './settings-reader.ts';
import { type Environment, readYamlFile, type YamlSource, type Variables, variablesOf } from './yaml-file.ts';
import { applianceExample } from './appliance-schema.ts';

export interface SettingsSource {
  /** Path of the YAML file; without one the environment names the appliance. */
  readonly file?: string | undefined;
  /** The content of a configuration from the program itself, instead of a file. */
  readonly content?: object;
  readonly env: Environment;
  /** Reads the files; given by a caller that asks later whether they changed. */
  readonly files?: Files;
}

/** What a configuration may name. */
interface SettingsScope {
  /** The defaults of each collector; the configuration may name only these. */
  readonly collectorDefaults: ReadonlyMap<string, CollectorSettings>;
  /** Label names that an appliance cannot have from the configuration. */
  readonly reservedLabels: readonly string[];
  /** The operations that tokens of the admin gateway may allow and deny. */
  readonly operations: OperationRoutes;
}

/**
 * Creates a function that loads the settings from a file, the environment or both, and rejects with
 * a ConfigError that names all problems.
 */
export function createSettingsLoader(scope: SettingsScope) {
  const schema = configSchema([...scope.collectorDefaults.keys()], scope.reservedLabels);
  const read = createSettingsReader(schema);
  return (from: SettingsSource): Promise<Settings> => load(from, scope, read);
}

/** Resolves to both configurations; rejects with the problems of both if both are refused. */
export async function loadBoth<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  const results = await Promise.allSettled([one, other]);
  const refused = results.flatMap((each) =>
    each.status === 'rejected' && each.reason instanceof ConfigError ? each.reason.problems : [],
  );
  if (results.every(({ status }) => status === 'rejected') && refused.length > 0) throw new ConfigError(refused);
  return await Promise.all([one, other]);
}

async function load(
  { file, content, env, files = createFiles() }: SettingsSource,
  { collectorDefaults, operations }: SettingsScope,
  read: SettingsReader<ConfigSchema>,
): Promise<Settings> {
  const problems = new Problems();
  const usedVariables = new Set<string>();
  const reading = { env, variable: variablesOf(env, usedVariables), files, problems };
  const main = content ? sourceOfContent(content) : await readMain(file, reading);
  if (main === undefined) throw problems.earlyError();
  const source = await withApplianceFiles(withStateDirectory(main, env), reading);
  reportMisspelt(env, usedVariables, problems);

  // Lets other work run: each step takes 0.1 s for a thousand appliances.
  await yieldToEventLoop();
  const { settings } = await read({ source, readText: files.readText, problems });
  await yieldToEventLoop();
  const { appliances, admin, limits, applianceFiles: _read, collectors: _merged, ...others } = settings;
  checkCombinations({ settings, source, collectorDefaults, operations }, problems);
  if (!problems.isEmpty) throw problems.error();

  const { compact: _ofEach, ...limitsOfAll } = limits;
  await yieldToEventLoop();
  return {
    ...others,
    appliances: appliances.map((each) => applianceSettings(each, settings, collectorDefaults)),
    limits: limitsOfAll,
    ...(admin && { admin: adminSettings(admin, operations) }),
  };
}

/** What reading the files of a configuration needs. */
interface FileReading {
  readonly env: Environment;
  readonly variable: Variables;
  readonly files: Pick<Files, 'list' | 'readText'>;
  readonly problems: Problems;
}

function sourceOfContent(content: object): YamlSource {
  return {
    value: structuredClone(content),
    locate: (path) => ({ file: 'settings', key: path.join('.') }),
  };
}

/**
 * Returns the source with the state directory of systemd as the default folder of the journal and
 * the history: the service may write nowhere else.
 */
function withStateDirectory(source: YamlSource, { STATE_DIRECTORY }: Environment): YamlSource {
  const [folder] = STATE_DIRECTORY?.split(':') ?? [];
  const { value } = source;
  if (!folder || !isRecord(value)) return source;
  const { admin, history = {} } = value;
  return {
    ...source,
    value: {
      ...value,
      ...(isRecord(admin) && { admin: { journal_file: join(folder, 'journal.db'), ...admin } }),
      ...(isRecord(history) && { history: { file: join(folder, 'history.db'), ...history } }),
    },
  };
}

/**
 * Reads a file, which may leave the appliance to the environment. Appliances in both are ambiguous,
 * and a problem. Without a file, reads the appliance of the environment.
 */
async function readMain(
  file: string | undefined,
  { env, variable, files: { readText }, problems }: FileReading,
): Promise<YamlSource | undefined> {
  if (file === undefined) return readEnvironment(env, problems);
  const source = await readYamlFile({
    file,
    remedy: 'Give --config.file (or ZLB_CONFIG_FILE) the path of a YAML file',
    minimalContent: `list at least one appliance in it (docs/configuration.md), or let zlb-exporter init HOST --config.file=${file} --append do it`,
    variable,
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
  return {
    value: Object.assign(source.value, environment.value),
    locate: (path, part) => (path[0] === 'appliances' ? environment : source).locate(path, part),
  };
}

interface ListedAppliance {
  readonly value: unknown;
  readonly file: YamlSource;
  readonly index: number;
}

/**
 * Appends the appliances of `appliance_files` to those of the source; each keeps the location where
 * it is written.
 */
async function withApplianceFiles(source: YamlSource, { variable, files, problems }: FileReading): Promise<YamlSource> {
  const { value } = source;
  if (!isRecord(value) || !Array.isArray(value.appliance_files)) return source;
  const own: unknown = value.appliances ?? [];
  if (!Array.isArray(own)) return source;

  const listed: ListedAppliance[] = [];
  for (const [index, pattern] of value.appliance_files.entries()) {
    if (typeof pattern !== 'string') continue;
    const place = source.locate(['appliance_files', index]);
    const found = await files.list(resolve(dirname(place.file), pattern));
    if ('error' in found) {
      problems.report(place, withRemedy(found, 'Let the exporter read it, or take the pattern out'));
      continue;
    }
    for (const file of found.value) {
      const remedy = `Put it there, or take it out of ${place.key}`;
      const minimalContent = 'an empty list is []';
      const read = await readYamlFile({ file, remedy, minimalContent, variable, readText: files.readText, problems });
      if (read) listed.push(...appliancesOf(read, file, problems));
    }
  }
  return {
    value: { ...value, appliances: [...own, ...listed.map((each) => each.value)] },
    locate(path, part) {
      const [key, index, ...rest] = path;
      const found = key === 'appliances' && typeof index === 'number' ? listed[index - own.length] : undefined;
      return found ? found.file.locate([found.index, ...rest], part) : source.locate(path, part);
    },
  };
}

function appliancesOf(file: YamlSource, name: string, problems: Problems): readonly ListedAppliance[] {
  if (Array.isArray(file.value)) return file.value.map((value: unknown, index) => ({ value, file, index }));
  problems.report(
    { file: name, key: '' },
    `must be a list of appliances, such as ${JSON.stringify([applianceExample])}; an empty list is []`,
  );
  return [];
}
