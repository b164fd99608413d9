import { dirname, isAbsolute, resolve } from 'node:path';
import { type Document, LineCounter, type Node, parseDocument } from 'yaml';
import type { Parsed } from '../lib/check.ts';
import { type ConfigLocation, keyPath, type Path, type Problems } from './problems.ts';
import type { ReadText } from './files.ts';
import {
  distinctErrors,
  dropWordsWithoutValue,
  eachScalar,
  findNode,
  offsetOf,
  plainData,
  type Tree,
  unresolvedAliases,
  yamlErrors,
} from './yaml-tree.ts';

/** The environment, like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` by the environment variable of that name and `$$` by a dollar; other dollars
 * stay. If the text may be a key, a problem does not quote the name: it may be the key itself.
 */
function substituteVariables(text: string, env: Environment, mayBeKey: boolean): Parsed<string> {
  let problem: string | undefined;
  const value = text.replaceAll(/\$\$|\$\{([^}]*)(\}?)/g, (found, name?: string, end?: string) => {
    if (name === undefined) return '$';
    // Quoted only if it is a valid name: other texts may be part of a key that contains a dollar.
    if (end !== '}' || !/^[A-Za-z_]\w*$/.test(name)) {
      problem ??= '${ must be followed by the name of an environment variable and }; write $$ for a plain dollar';
      return found;
    }
    const replacement = Object.hasOwn(env, name) ? env[name] : undefined;
    if (replacement !== undefined) return replacement;
    // Longer than usual names, and as long as a key or a token.
    const unnamed = mayBeKey || name.length > 40;
    problem ??= `the environment variable ${unnamed ? 'in it' : name} is not set; set it for the exporter, or write $$ for a plain dollar`;
    return found;
  });
  return problem === undefined ? { value } : { problem };
}

/** A configuration as plain data, every value a string, with the location of each value. */
export interface Source {
  readonly value: unknown;
  /** Returns the folder at which a relative file name at a path starts. */
  folderOf(path: Path): string;
  /**
   * Returns the location of a value, or of its key; of the nearest mapping around it if it is
   * missing.
   */
  locate(path: Path, part?: 'key'): ConfigLocation;
}

export interface YamlFileParts {
  readonly file: string;
  /** The remedy for a file that cannot be read. */
  readonly remedy: string;
  /** The content to write into an empty file. */
  readonly minimalContent: string;
  readonly env: Environment;
  readonly readText: ReadText;
  readonly problems: Problems;
}

/**
 * Reads a YAML file and replaces its `${NAME}`s; undefined if it is too broken for further checks.
 */
export async function readYamlFile(parts: YamlFileParts): Promise<Source | undefined> {
  const { file, remedy, minimalContent, env, readText, problems } = parts;
  const text = await readText(file, 'configuration');
  if ('problem' in text) {
    const where = isAbsolute(file) ? '' : ` (${resolve(file)})`;
    problems.report({ file, key: '' }, `${text.problem}${where}. ${remedy}`);
    return undefined;
  }
  const lineCounter = new LineCounter();
  const at: Locate = (offset, key = '') => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line, column: col, key };
  };
  const document = parseYaml(text.value, lineCounter);
  if (!reportParserErrors(document, at, problems)) return undefined;
  if (!hasContents(document)) {
    problems.report({ file, key: '' }, `is empty; ${minimalContent}`);
    return undefined;
  }
  if (!reportTreeErrors(document, at, problems)) return undefined;
  const written = replaceVariables(document, { env, at, problems });
  const value = plainData(document);
  if (value === undefined) {
    problems.report(
      { file, key: '' },
      'its aliases (*name) or merges (<<) cannot be followed; write out what they repeat',
    );
    return undefined;
  }
  return {
    value,
    folderOf: () => dirname(file),
    locate(path, part) {
      const node = findNode(document, path, part);
      const own = written.get(node);
      return { ...at(offsetOf(node), keyPath(path)), ...(own !== undefined && { written: own }) };
    },
  };
}

/** Returns the location of an offset in the text. */
type Locate = (offset: number, key?: string) => ConfigLocation;

/**
 * Parses with the failsafe schema, which leaves each value a string: an API key 0123 or 1e5 is not
 * a number. Tags such as !!int and !!binary would convert values, so they have no meaning here.
 * Pretty errors would quote the file, and with it secrets.
 */
function parseYaml(text: string, lineCounter: LineCounter): Document {
  return parseDocument(text, {
    schema: 'failsafe',
    resolveKnownTags: false,
    merge: true,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter,
  });
}

/** Reports the errors of the parser; returns false if the document cannot be checked further. */
function reportParserErrors(document: Document, at: Locate, problems: Problems): boolean {
  for (const { code, pos } of distinctErrors([...document.errors, ...document.warnings])) {
    problems.report(at(pos[0]), yamlErrors[code]);
  }
  return document.errors.every(({ code }) => code === 'DUPLICATE_KEY');
}

/**
 * Reports and removes keys without a value, and reports unknown aliases; returns false if there are
 * any of these.
 */
function reportTreeErrors(document: Tree, at: Locate, problems: Problems): boolean {
  for (const offset of dropWordsWithoutValue(document)) {
    problems.report(at(offset), 'this mapping holds a word without a value; write each as "key: value"');
  }
  const unresolved = unresolvedAliases(document);
  for (const offset of unresolved) {
    problems.report(at(offset), 'no anchor (&name) above has this name; put a value that starts with * in quotes');
  }
  return unresolved.length === 0;
}

interface Replacement {
  readonly env: Environment;
  readonly at: Locate;
  readonly problems: Problems;
}

/** Replaces `${NAME}` in all values; returns each value as it was written. */
function replaceVariables(document: Tree, { env, at, problems }: Replacement): ReadonlyMap<Node, string> {
  const written = new Map<Node, string>();
  eachScalar(document.contents, [], (scalar, path) => {
    written.set(scalar, scalar.value);
    const location = at(offsetOf(scalar), keyPath(path));
    if (scalar.type === 'PLAIN' && /^(?:|~|null)$/i.test(scalar.value)) {
      problems.report(location, 'has no value; give it one, or remove the key');
    }
    const replaced = substituteVariables(scalar.value, env, mayHoldKey(path));
    if ('problem' in replaced) problems.report(location, replaced.problem);
    else scalar.value = replaced.value;
  });
  return written;
}

/**
 * Returns true for `api_key`, a digest, a token, what may be a misspelling of them, and the hash of
 * a user.
 */
function mayHoldKey(path: Path): boolean {
  return /key|^sha|digest|token/i.test(String(path.at(-1))) || /user/i.test(String(path.at(-2)));
}

function hasContents(document: Document): document is Tree {
  return document.contents !== null;
}
