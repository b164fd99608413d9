import { resolve } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { isRecord } from '../lib/check.ts';
import { type ReadText, withFolder } from './files.ts';
import type { Path, Problems } from './problems.ts';
import { readers } from './readers.ts';
import { type OpenedBy, type Reads, settingName, type SettingsOf } from './schema-parts.ts';
import type { Source } from './yaml-file.ts';

/** The part of a schema that says how its values become settings. */
interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly reads?: Reads;
  readonly opens?: OpenedBy;
  readonly resolves?: true;
  /** True for a mapping whose keys are names. */
  readonly keepsKeys?: true;
}

/** A file to open, and the setting that its content becomes. */
interface NamedFile {
  readonly path: string;
  readonly at: Path;
  readonly opens: OpenedBy;
  readonly settings: Record<string, unknown>;
  readonly name: string;
}

interface Surroundings {
  readonly source: Source;
  readonly readText: ReadText;
  readonly problems: Problems;
}

/**
 * Converts a valid configuration to settings: names them with their units, resolves paths, and
 * reads the files that keys name. The settings lack what could not be read, which is a problem.
 */
export async function settingsOf<Schema extends TSchema>(
  schema: Schema,
  config: Static<Schema>,
  { source, readText, problems }: Surroundings,
): Promise<SettingsOf<Schema>> {
  const files: NamedFile[] = [];
  const settings = named(schema, config, { at: [], source, files });
  // One after the other: a process may not have thousands of files open at once.
  for (const file of files) {
    const content = await contentOf(file, source.folderOf(file.at), readText);
    if ('problem' in content) problems.report(source.locate(file.at), content.problem);
    else file.settings[file.name] = content.value;
  }
  // The names of the type and those of `settingName` follow the same rules.
  return settings as SettingsOf<Schema>;
}

interface Place {
  readonly at: Path;
  readonly source: Source;
  readonly files: NamedFile[];
}

function named(node: Node, value: unknown, { at, source, files }: Place): unknown {
  const inside = (part: Node, key: string | number, each: unknown): unknown =>
    named(part, each, { at: [...at, key], source, files });

  if (node.items && Array.isArray(value))
    return value.map((item: unknown, index) => (node.items ? inside(node.items, index, item) : item));
  if (node.resolves && typeof value === 'string') return resolve(source.folderOf(at), value);
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

async function contentOf({ path, opens }: NamedFile, folder: string, readText: ReadText) {
  const text = await readText(resolve(folder, path), opens === 'certificates' ? 'certificates' : 'key');
  if ('problem' in text)
    return {
      problem: `${withFolder(text.problem, path, folder)}. Give the path of a file the exporter may read, best an absolute one`,
    };
  return readers[opens](opens === 'apiKey' ? text.value.replace(/[\r\n]+$/, '') : text.value);
}
