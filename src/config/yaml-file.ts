import { dirname, isAbsolute, resolve } from 'node:path';
import { type Document, LineCounter, type Node, parseDocument } from 'yaml';

import type { ReadText } from './file-text.ts';
import { keyPath, type Path, type Place, type Problems } from './problems.ts';
import { type Environment, substitute } from './substitute.ts';
import { distinctErrors, yamlErrors } from './yaml-errors.ts';
import {
  dropWordsWithoutValue,
  eachScalar,
  findNode,
  offsetOf,
  plainData,
  type Tree,
  unresolvedAliases,
} from './yaml-tree.ts';

/** Configuration as plain data, every value a string, with the way back to where each value was written. */
export interface Source {
  readonly value: unknown;
  /** Where the relative path at a place starts. */
  folderOf(path: Path): string;
  /** The place of a value, or of its key; of the nearest mapping around it when it is not there. */
  place(path: Path, part?: 'key'): Place;
}

export interface YamlFileParts {
  readonly file: string;
  /** What to do about a file that cannot be read. */
  readonly remedy: string;
  /** What to write into a file without anything in it. */
  readonly least: string;
  readonly env: Environment;
  readonly readText: ReadText;
  readonly problems: Problems;
}

/** Reads a YAML file with its `${NAME}`s replaced; undefined when it is too broken to look at what it says. */
export async function readYamlFile(parts: YamlFileParts): Promise<Source | undefined> {
  const { file, remedy, least, env, readText, problems } = parts;
  const text = await readText(file, 'configuration');
  if ('problem' in text) {
    const where = isAbsolute(file) ? '' : ` (${resolve(file)})`;
    problems.report({ file, key: '' }, `${text.problem}${where}. ${remedy}`);
    return undefined;
  }
  const lineCounter = new LineCounter();
  const at = (offset: number, key = ''): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line, column: col, key };
  };
  // The failsafe schema leaves each value the string it was written as: an API key 0123 or 1e5 is not a number.
  // A tag such as !!int would make it one after all, and !!binary something that is no text; neither has a meaning here.
  // Pretty errors would quote the file's text, and with it secrets.
  const document = parseDocument(text.value, {
    schema: 'failsafe',
    resolveKnownTags: false,
    merge: true,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter,
  });
  for (const { code, pos } of distinctErrors([...document.errors, ...document.warnings])) {
    problems.report(at(pos[0]), yamlErrors[code]);
  }
  if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return undefined;
  if (!hasContents(document)) {
    problems.report({ file, key: '' }, `is empty; ${least}`);
    return undefined;
  }

  for (const offset of dropWordsWithoutValue(document)) {
    problems.report(at(offset), 'this mapping holds a word without a value; write each as "key: value"');
  }
  const unresolved = unresolvedAliases(document);
  for (const offset of unresolved) {
    problems.report(at(offset), 'no anchor (&name) above has this name; put a value that starts with * in quotes');
  }
  if (unresolved.length > 0) return undefined;
  const written = new Map<Node, string>();
  eachScalar(document.contents, [], (scalar, path) => {
    written.set(scalar, scalar.value);
    const place = at(offsetOf(scalar), keyPath(path));
    if (scalar.type === 'PLAIN' && /^(?:|~|null)$/i.test(scalar.value)) {
      problems.report(place, 'has no value; give it one, or remove the key');
    }
    const outcome = substitute(scalar.value, env, mayHoldKey(path));
    if ('problem' in outcome) problems.report(place, outcome.problem);
    else scalar.value = outcome.value;
  });

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
    place(path, part) {
      const node = findNode(document, path, part);
      const text = written.get(node);
      return { ...at(offsetOf(node), keyPath(path)), ...(text !== undefined && { written: text }) };
    },
  };
}

/** True for `api_key`, for the digest of a token, for what may be a misspelling of them, and beside the name of a user. */
function mayHoldKey(path: Path): boolean {
  return /key|^sha|digest|token/i.test(String(path.at(-1))) || /user/i.test(String(path.at(-2)));
}

function hasContents(document: Document): document is Tree {
  return document.contents !== null;
}
