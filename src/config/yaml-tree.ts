import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
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
