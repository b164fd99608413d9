import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { Path } from './problems.ts';

/** A document that is not empty; each of its scalars is a string. */
export type Tree = Document & { readonly contents: Node };

/**
 * Visits every scalar value once, in the order of the file. Does not follow aliases: their values
 * are visited elsewhere.
 */
export function eachScalar(node: unknown, path: Path, meet: (scalar: Scalar<string>, path: Path) => void): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) eachScalar(value, [...path, wordOf(key)], meet);
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) eachScalar(item, [...path, index], meet);
  } else if (isScalar<string>(node)) {
    meet(node, path);
  }
}

/** Removes keys without a value, as in `{ name }`, and returns the offsets of their mappings. */
export function dropWordsWithoutValue(tree: Tree): readonly number[] {
  const offsets: number[] = [];
  visit(tree, {
    Map(_key, map) {
      const complete = map.items.filter(({ value }) => value !== null);
      if (complete.length < map.items.length) offsets.push(offsetOf(map));
      map.items = complete;
    },
  });
  return offsets;
}

/** Returns the offsets of the aliases without an anchor above them. */
export function unresolvedAliases(tree: Tree): readonly number[] {
  const offsets: number[] = [];
  visit(tree, {
    Alias(_key, alias) {
      if (!alias.resolve(tree)) offsets.push(offsetOf(alias));
    },
  });
  return offsets;
}

/** Returns the node at a path, or its key; if there is none, the innermost node on the way. */
export function findNode(tree: Tree, path: Path, part?: 'key'): Node {
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

/** Returns the offset of a node in the text. */
export function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/**
 * Returns the document as plain data with a copy for each alias; undefined if aliases recurse or
 * expand too far, or if `<<` merges something else than a mapping.
 */
export function plainData(tree: Tree): unknown {
  try {
    return JSON.parse(JSON.stringify(tree.toJS({ maxAliasCount: 1_000 })));
  } catch {
    return undefined;
  }
}

/** Returns the pair of a mapping with a key, its own or one that `<<` merges into it. */
function pairOf(tree: Tree, map: YAMLMap, step: string | number): Pair | undefined {
  const own = map.items.find(({ key }) => wordOf(key) === step);
  if (own) return own;
  const merged = map.items
    .filter(({ key }) => wordOf(key) === '<<')
    .flatMap(({ value }) => (isSeq(value) ? value.items : [value]));
  for (const source of merged) {
    const from = isAlias(source) ? source.resolve(tree) : source;
    const pair = isMap(from) ? pairOf(tree, from, step) : undefined;
    if (pair) return pair;
  }
  return undefined;
}

function wordOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/**
 * A remedy for each error of the YAML parser. The parser's own messages quote the file, which may
 * contain a key: for `api_key: *9f2c` it says "Unresolved alias: 9f2c".
 */
export const yamlErrors: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) takes no tag and no anchor; remove them, or put the value in quotes',
  BAD_ALIAS: 'this is not an alias; put a value that starts with * or & in quotes',
  BAD_DIRECTIVE: 'lines that start with % are YAML directives and this is none; remove the line',
  BAD_DQ_ESCAPE: 'this backslash means nothing in double quotes; write it twice, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines above; indent with the same spaces, and close every [ and {',
  BAD_PROP_ORDER: 'anchors and tags come before the value; put a value that starts with & or ! in quotes',
  BAD_SCALAR_START: 'a value cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'there is a second ": " on this line, or a line below is indented too far; put a value that holds ": " in quotes',
  BLOCK_IN_FLOW: 'lists and mappings inside [ ] or { } are written with brackets too',
  DUPLICATE_KEY: 'this key stands a second time in the same mapping; remove one of the two',
  IMPOSSIBLE: 'the YAML parser cannot make sense of this; put the value in quotes',
  KEY_OVER_1024_CHARS: 'this key is longer than 1024 characters; is a ":" missing, or a quote not closed?',
  MISSING_CHAR: 'something is missing here or above: a ":" after a key, a comma, or a closing quote or bracket',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; is a ":" missing on the line above?',
  MULTIPLE_ANCHORS: 'a value takes one anchor; remove the second "&name"',
  MULTIPLE_DOCS: 'a second document starts here; remove the "---" line, all settings stand in one document',
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
export function distinctErrors(errors: readonly YAMLError[]): readonly YAMLError[] {
  return errors.filter(({ code, pos: [offset] }, index) => {
    const before = errors.slice(0, index);
    return !before.some((error) => error.pos[0] === offset || (error.code === code && code === 'UNEXPECTED_TOKEN'));
  });
}
