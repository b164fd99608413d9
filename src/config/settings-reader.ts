import { dirname, resolve } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isRecord } from '../lib/check.ts';
import { type ReadText, withHint, withRemedy } from './files.ts';
import type { Path, Problems } from './problems.ts';
import { parsers } from './parsers.ts';
import { type OpenedBy, type ParsedBy, settingName, type SettingsOf } from './schema-parts.ts';
import { createStructureReader, type StructureReader } from './structure.ts';
import type { YamlSource } from './yaml-file.ts';

/** A part of a schema, with the keywords that say how its values become settings. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly parsedBy?: ParsedBy;
  readonly opens?: OpenedBy;
  readonly resolves?: true;
  readonly keepsKeys?: true;
}

/** A file that a key names, and the setting that its content becomes. */
interface NamedFile {
  readonly path: string;
  readonly at: Path;
  readonly opens: OpenedBy;
  readonly settings: Record<string, unknown>;
  readonly name: string;
}

interface ReaderContext {
  readonly source: YamlSource;
  readonly readText: ReadText;
  readonly problems: Problems;
}

/** A valid configuration as it was written, and its settings. */
interface ReadSettings<Schema extends TSchema> {
  readonly config: Static<Schema>;
  /** Incomplete if a file could not be read, which is reported as a problem. */
  readonly settings: SettingsOf<Schema>;
}

export type SettingsReader<Schema extends TSchema> = (context: ReaderContext) => Promise<ReadSettings<Schema>>;

/**
 * Creates a function that converts a configuration to settings: checks its structure, names the
 * settings with their units, resolves paths, and reads the files that keys name. Rejects with a
 * ConfigError for a wrong structure. Compiles the schema at the first use, which takes 100 ms.
 */
export function createSettingsReader<Schema extends TSchema>(schema: Schema): SettingsReader<Schema> {
  let readStructure: StructureReader<Schema> | undefined;
  return async ({ source, readText, problems }) => {
    readStructure ??= createStructureReader(schema);
    const config = readStructure(source, problems);
    if (!config || !problems.isEmpty) throw problems.earlyError();
    // Lets other work run.
    await yieldToEventLoop();
    const files: NamedFile[] = [];
    const settings = toSettings(schema, config, { at: [], source, files });
    // One after the other: a process may not have thousands of files open at once.
    for (const file of files) {
      const place = source.locate(file.at);
      const content = await readNamedFile(file, dirname(place.file), readText);
      if ('error' in content) problems.report(place, content.error);
      else file.settings[file.name] = content.value;
    }
    // The names of the type and those of `settingName` follow the same rules.
    return { config, settings: settings as SettingsOf<Schema> };
  };
}

interface SettingLocation {
  readonly at: Path;
  readonly source: YamlSource;
  readonly files: NamedFile[];
}

function toSettings(node: SchemaNode, value: unknown, { at, source, files }: SettingLocation): unknown {
  const inside = (part: SchemaNode, key: string | number, each: unknown): unknown =>
    toSettings(part, each, { at: [...at, key], source, files });

  if (node.items && Array.isArray(value))
    return value.map((item: unknown, index) => (node.items ? inside(node.items, index, item) : item));
  if (node.resolves && typeof value === 'string') return resolve(dirname(source.locate(at).file), value);
  if (!node.properties || !isRecord(value)) return value;
  const settings: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(node.properties)) {
    const own = value[key];
    if (own === undefined) continue;
    const name = node.keepsKeys ? key : settingName(key, part);
    if (part.opens && typeof own === 'string')
      files.push({ path: own, at: [...at, key], opens: part.opens, settings, name });
    else settings[name] = inside(part, key, own);
  }
  return settings;
}

async function readNamedFile({ path, opens }: NamedFile, folder: string, readText: ReadText) {
  const text = await readText(resolve(folder, path), opens === 'certificates' ? 'certificates' : 'key');
  if ('error' in text)
    return {
      error: withRemedy(
        withHint(text, path, folder),
        'Give the path of a file the exporter may read, best an absolute one',
      ),
    };
  return parsers[opens](opens === 'apiKey' ? text.value.replace(/(?<![\r\n])[\r\n]+$/, '') : text.value);
}
