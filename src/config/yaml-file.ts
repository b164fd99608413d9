import { isAbsolute, resolve } from 'node:path';
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { Result } from '../lib/check.ts';
import { type ConfigLocation, keyPath, type Path, type Problems } from './problems.ts';
import { type ReadText, withRemedy } from './files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Variables = (name: string) => string | undefined;

/** Returns the variables of the environment; adds the names that are asked for to `used`. */
export function variablesOf(env: Environment, used = new Set<string>()): Variables {
  return (name) => {
    used.add(name);
    return Object.hasOwn(env, name) ? env[name] : undefined;
  };
}

/**
 * Replaces `${NAME}` by the environment variable of that name and `$$` by a dollar; other dollars
 * stay. If the text may be an API key, an error does not quote the name: it may be the key itself.
 */
function substituteVariables(text: string, variable: Variables, mayBeKey: boolean): Result<string> {
  let problem: string | undefined;
  const value = text.replaceAll(/\$\$|\$\{([^}]*)(\}?)/g, (found, name?: string, end?: string) => {
    if (name === undefined) return '$';
    // Quoted only if it is a valid name: other texts may be part of an API key that contains a dollar.
    if (end !== '}' || !/^[A-Za-z_]\w*$/.test(name)) {
      problem ??= '${ must be followed by the name of an environment variable and }; write $$ for a plain dollar';
      return found;
    }
    const replacement = variable(name);
    if (replacement !== undefined) return replacement;
    // Longer than usual names, and as long as a key or a token.
    const unnamed = mayBeKey || name.length > 40;
    problem ??= `the environment variable ${unnamed ? 'in it' : name} is not set; set it for the exporter, or write $$ for a plain dollar`;
    return found;
  });
  return problem === undefined ? { value } : { error: problem };
}

/** A configuration as plain data whose values are strings, with the location of each value. */
export interface YamlSource {
  readonly value: unknown;
  /**
   * Returns the location of a value, or of its key; of the nearest mapping around it if it is
   * missing. A relative file name there starts at the folder of `file`.
   */
  locate(path: Path, part?: 'key'): ConfigLocation;
}

export interface YamlFileOptions {
  readonly file: string;
  readonly remedy: string;
  /** The content to write into an empty file. */
  readonly minimalContent: string;
  readonly variable: Variables;
  readonly readText: ReadText;
  readonly problems: Problems;
}

/**
 * Reads a YAML file and replaces its `${NAME}`s; undefined if it is too broken for further checks.
 */
export async function readYamlFile(options: YamlFileOptions): Promise<YamlSource | undefined> {
  const { file, remedy, minimalContent, variable, readText, problems } = options;
  const text = await readText(file, 'configuration');
  if ('error' in text) {
    const where = isAbsolute(file) || text.error.includes(resolve(file)) ? '' : ` (${resolve(file)})`;
    problems.report({ file, key: '' }, withRemedy({ ...text, error: `${text.error}${where}` }, remedy));
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
  const written = replaceVariables(document, { variable, at, problems });
  const value = plainData(document);
  if (value === undefined) {
    problems.report(
      { file, key: '' },
      'its aliases (*name) or merges (<<) cannot be resolved; write out what they repeat',
    );
    return undefined;
  }
  return {
    value,
    locate(path, part) {
      const node = findNode(document, path, part);
      const own = written.get(isAlias(node) ? (node.resolve(document) ?? node) : node);
      return { ...at(offsetOf(node), keyPath(path)), ...(own !== undefined && { written: own }) };
    },
  };
}

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
    // Compares each key with all before it; `reportTreeErrors` finds repeated ones.
    uniqueKeys: false,
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
  return document.errors.length === 0;
}

/**
 * Reports and removes keys without a value, as in `{ name }`, and reports aliases without an anchor
 * above them; returns false if there are any of these.
 */
function reportTreeErrors(tree: Tree, at: Locate, problems: Problems): boolean {
  let areAliasesKnown = true;
  visit(tree, {
    Map(_key, map) {
      const complete = map.items.filter(({ value }) => value !== null);
      if (complete.length < map.items.length)
        problems.report(at(offsetOf(map)), 'this mapping contains a word without a value; write each as "key: value"');
      map.items = complete;
      for (const key of repeatedKeys(map)) problems.report(at(offsetOf(key)), yamlErrors.DUPLICATE_KEY);
    },
    Alias(_key, alias) {
      if (alias.resolve(tree)) return;
      areAliasesKnown = false;
      problems.report(
        at(offsetOf(alias)),
        'no anchor (&name) above has this name; put a value that starts with * in quotes',
      );
    },
  });
  return areAliasesKnown;
}

/** Returns the keys that a mapping has had before; `<<` may stand there more than once. */
function repeatedKeys({ items }: YAMLMap): readonly Node[] {
  const seen = new Set<string>();
  return items.flatMap(({ key }) => {
    const word = keyText(key);
    const isRepeated = seen.has(word) && word !== '<<';
    seen.add(word);
    return isRepeated && isNode(key) ? key : [];
  });
}

interface VariableReplacement {
  readonly variable: Variables;
  readonly at: Locate;
  readonly problems: Problems;
}

/** Replaces `${NAME}` in all values; returns each value as it was written. */
function replaceVariables(document: Tree, { variable, at, problems }: VariableReplacement): ReadonlyMap<Node, string> {
  const written = new Map<Node, string>();
  eachScalar(document.contents, [], (scalar, path) => {
    written.set(scalar, scalar.value);
    const location = at(offsetOf(scalar), keyPath(path));
    if (scalar.type === 'PLAIN' && /^(?:|~|null)$/i.test(scalar.value)) {
      problems.report(location, 'has no value; give it one, or remove the key');
    }
    const replaced = substituteVariables(scalar.value, variable, mayHoldKey(path));
    if ('error' in replaced) problems.report(location, replaced.error);
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

/** A document that is not empty; each of its scalars is a string. */
type Tree = Document & { readonly contents: Node };

/**
 * Visits every scalar value once, in the order of the file. Does not follow aliases: their values
 * are visited elsewhere.
 */
function eachScalar(node: unknown, path: Path, visitScalar: (scalar: Scalar<string>, path: Path) => void): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) eachScalar(value, [...path, keyText(key)], visitScalar);
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) eachScalar(item, [...path, index], visitScalar);
  } else if (isScalar<string>(node)) {
    visitScalar(node, path);
  }
}

/** Returns the node at a path, or its key; if there is none, the innermost node on the way. */
function findNode(tree: Tree, path: Path, part?: 'key'): Node {
  let node = tree.contents;
  for (const [depth, step] of path.entries()) {
    const inside = isAlias(node) ? node.resolve(tree) : node;
    let next: unknown;
    if (isSeq(inside)) next = inside.items[Number(step)];
    if (isMap(inside)) {
      const pair = pairOf(tree, inside, step);
      next = part === 'key' && depth === path.length - 1 ? pair?.key : pair?.value;
    }
    if (!isNode(next)) return node;
    node = next;
  }
  return node;
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/**
 * Returns the document as plain data with a copy for each alias; undefined if aliases recurse or
 * expand too far, or if `<<` merges something other than a mapping.
 */
function plainData(tree: Tree): unknown {
  try {
    return JSON.parse(JSON.stringify(tree.toJS({ maxAliasCount: 1_000 })));
  } catch {
    return undefined;
  }
}

/** Returns the pair of a mapping with a key, its own or one that `<<` merges into it. */
function pairOf(tree: Tree, map: YAMLMap, step: string | number): Pair | undefined {
  const own = map.items.find(({ key }) => keyText(key) === step);
  if (own) return own;
  const merged = map.items
    .filter(({ key }) => keyText(key) === '<<')
    .flatMap(({ value }) => (isSeq(value) ? value.items : [value]));
  for (const source of merged) {
    const from = isAlias(source) ? source.resolve(tree) : source;
    const pair = isMap(from) ? pairOf(tree, from, step) : undefined;
    if (pair) return pair;
  }
  return undefined;
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/**
 * A remedy for each error of the YAML parser. The parser's own messages quote the file, which may
 * contain a key: for `api_key: *9f2c` it says "Unresolved alias: 9f2c".
 */
const yamlErrors: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) takes no tag and no anchor; remove them, or put the value in quotes',
  BAD_ALIAS: 'this is not an alias; put a value that starts with * or & in quotes',
  BAD_DIRECTIVE: 'lines that start with % are YAML directives, and this is not a valid one; remove the line',
  BAD_DQ_ESCAPE: 'this backslash means nothing in double quotes; write it twice, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines above; indent with the same spaces, and close every [ and {',
  BAD_PROP_ORDER: 'anchors and tags come before the value; put a value that starts with & or ! in quotes',
  BAD_SCALAR_START: 'a value cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'there is a second ": " on this line, or a line below is indented too far; put a value that contains ": " in quotes',
  BLOCK_IN_FLOW: 'lists and mappings inside [ ] or { } are written with brackets too',
  DUPLICATE_KEY: 'this key appears twice in the same mapping; remove one of the two',
  IMPOSSIBLE: 'the YAML parser cannot make sense of this; put the value in quotes',
  KEY_OVER_1024_CHARS: 'this key is longer than 1024 characters; is a ":" missing, or a quote not closed?',
  MISSING_CHAR: 'something is missing here or above: a ":" after a key, a comma, or a closing quote or bracket',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; is a ":" missing on the line above?',
  MULTIPLE_ANCHORS: 'a value takes one anchor; remove the second "&name"',
  MULTIPLE_DOCS: 'a second document starts here; remove the "---" line: all settings belong in one document',
  MULTIPLE_TAGS: 'a value takes no second tag; put a value that starts with ! in quotes',
  NON_STRING_KEY: 'a key must be a plain word; put a value that starts with [, { or * in quotes',
  RESOURCE_EXHAUSTION: 'this is nested too deeply; write it with fewer levels',
  TAB_AS_INDENT: 'a tab cannot indent YAML; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) have no meaning here; remove it, or put a value that starts with ! in quotes',
  UNEXPECTED_TOKEN:
    'this does not belong here; check the indentation, and put values with special characters in quotes, such as "${NAME}" inside { }',
  BAD_COLLECTION_TYPE: 'this tag does not fit its value; remove the tag',
};

/**
 * Returns the errors worth a line: one per position, and only the first unexpected token, because
 * the parser reports the rest of the file as more of them.
 */
function distinctErrors(errors: readonly YAMLError[]): readonly YAMLError[] {
  return errors.filter(({ code, pos: [offset] }, index) => {
    const before = errors.slice(0, index);
    return !before.some((error) => error.pos[0] === offset || (error.code === code && code === 'UNEXPECTED_TOKEN'));
  });
}
