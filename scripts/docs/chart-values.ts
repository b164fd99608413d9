import { stringify } from 'yaml';
import { isRecord } from '../../src/lib/check.ts';
import { markdownList, wrapped } from './markdown.ts';

/** The part of values.schema.json that its documentation needs. */
interface ValueNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ValueNode[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, ValueNode>>;
  readonly items?: ValueNode;
}

/** values.schema.json, the one place of what the values of the chart are. */
export interface ValuesSchema extends ValueNode {
  readonly $defs: Readonly<Record<string, ValueNode>>;
}

const maxColumns = 100;

/** Returns values.yaml: each value with its default, below what it is. */
export function chartValues(schema: ValuesSchema): string {
  const title = '# Every value. `npm run docs` writes this file from values.schema.json, which refuses a misspelt one.';
  return `${[title, ...yamlLines(schema, schema, '')].join('\n')}\n`;
}

function yamlLines(schema: ValuesSchema, parent: ValueNode, indent: string): readonly string[] {
  return Object.entries(parent.properties ?? {}).flatMap(([key, reference]) => {
    const node = resolved(schema, reference);
    const comment = wrapped(node.description ?? '', maxColumns - indent.length - 2).map((line) => `${indent}# ${line}`);
    const gap = indent === '' && (comment.length > 0 || isBlock(node)) ? [''] : [];
    if (isBlock(node)) return [...gap, ...comment, `${indent}${key}:`, ...yamlLines(schema, node, `${indent}  `)];
    return [...gap, ...comment, ...valueLines(key, node.default).map((line) => `${indent}${line}`)];
  });
}

/** One line for a value that fits into it. */
function valueLines(key: string, value: unknown): readonly string[] {
  const write = (collectionStyle: 'flow' | 'block') =>
    stringify(value, { collectionStyle, singleQuote: true, lineWidth: 0 }).trimEnd();
  const line = `${key}: ${write('flow')}`;
  if (line.length <= maxColumns && !line.includes('\n')) return [line];
  return [
    `${key}:`,
    ...write('block')
      .split('\n')
      .map((each) => `  ${each}`),
  ];
}

/** Returns the list of the README of the chart: each value, its type, its default and what it is. */
export function chartValueList(schema: ValuesSchema): string {
  return markdownList(listItems(schema, schema, ''));
}

function listItems(schema: ValuesSchema, parent: ValueNode, prefix: string): readonly string[] {
  return Object.entries(parent.properties ?? {}).flatMap(([key, reference]) => {
    const node = resolved(schema, reference);
    const name = `\`${prefix}${key}\``;
    const meaning = node.description === undefined ? '' : `: ${node.description}`;
    if (isBlock(node)) {
      const inside = listItems(schema, node, `${prefix}${key}.`);
      return meaning === '' ? inside : [`${name}${meaning}`, ...inside];
    }
    return [`${name} (${typeWords(schema, node)}${standardWords(node)})${meaning}`];
  });
}

/** The default, unless it is empty, which goes without saying. */
function standardWords({ default: standard }: ValueNode): string {
  const isEmpty = standard === '' || (typeof standard === 'object' && Object.keys(standard ?? {}).length === 0);
  if (isEmpty) return '';
  return `; default \`${typeof standard === 'string' ? standard : JSON.stringify(standard)}\``;
}

function typeWords(schema: ValuesSchema, node: ValueNode): string {
  if (node.enum) return `one of ${node.enum.map((word) => (word === '' ? 'empty' : String(word))).join(', ')}`;
  if (node.type === 'array')
    return `list of ${{ string: 'texts', integer: 'numbers' }[resolved(schema, node.items ?? {}).type ?? ''] ?? 'mappings'}`;
  if (node.type === 'integer')
    return `number, ${node.maximum === undefined ? `at least ${node.minimum}` : `${node.minimum} to ${node.maximum}`}`;
  return { boolean: 'boolean', object: 'mapping' }[String(node.type)] ?? 'text';
}

/** True for a mapping whose keys are listed one by one. */
function isBlock({ properties = {}, default: standard }: ValueNode): boolean {
  return standard === undefined && Object.values(properties).every(isRecord) && Object.keys(properties).length > 0;
}

/** Returns a node with what it refers to; its own words come first. */
function resolved({ $defs }: ValuesSchema, { $ref, ...own }: ValueNode): ValueNode {
  return $ref === undefined ? own : { ...$defs[$ref.replace('#/$defs/', '')], ...own };
}
