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

/** A document with something in it; each of its scalars is a string. */
export type Tree = Document & { readonly contents: Node };

/** Every scalar value once, in the order of the file. Aliases are not followed: their values stand elsewhere. */
export function eachScalar(node: unknown, path: Path, meet: (scalar: Scalar<string>, path: Path) => void): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) eachScalar(value, [...path, wordOf(key)], meet);
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) eachScalar(item, [...path, index], meet);
  } else if (isScalar<string>(node)) {
    meet(node, path);
  }
}

/** Takes out the words without a value, as in `{ name }`, and returns where the mappings that held them start. */
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

/** Where the aliases stand that name no anchor above them. */
export function unresolvedAliases(tree: Tree): readonly number[] {
  const offsets: number[] = [];
  visit(tree, {
    Alias(_key, alias) {
      if (!alias.resolve(tree)) offsets.push(offsetOf(alias));
    },
  });
  return offsets;
}

/** The node at a path, or its key; where the path leads nowhere, the innermost node on the way. */
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

/** Where a node starts in the text. */
export function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

/**
 * The document as plain data, each alias a copy of its own; undefined when it unfolds without end or too far,
 * or when `<<` merges what is no mapping.
 */
export function plainData(tree: Tree): unknown {
  try {
    return JSON.parse(JSON.stringify(tree.toJS({ maxAliasCount: 1_000 })));
  } catch {
    return undefined;
  }
}

/** The pair of a mapping with a key, from the mappings that `<<` merges into it if it has none of its own. */
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
