import type { TSchema } from 'typebox';

import type { ParsedBy } from '../../src/config/schema-parts.ts';
import { markdownList } from './markdown.ts';

/** The part of a schema that the documentation needs. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly parsedBy?: ParsedBy;
  readonly opens?: string;
  readonly resolves?: boolean;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: boolean | SchemaNode;
}

const parserWords: Readonly<Record<ParsedBy['parser'], string>> = {
  apiKey: 'text',
  applianceName: 'text, 1 to 128 characters',
  applianceUrl: 'https address',
  byteSize: 'size',
  certificates: 'PEM text',
  cipherSuite: 'name',
  duration: 'duration',
  endpoint: 'address, or address:port',
  expiry: 'day, or time with zone',
  farmPattern: 'RE2 pattern',
  fingerprint: '64 hex digits, colons allowed',
  headerValue: 'text',
  interval: 'duration, or 0',
  latency: 'time for a share',
  listenAddress: 'host:port',
  network: 'network',
  passwordHash: 'bcrypt hash',
  pattern: 'pattern',
  privateKey: 'PEM text',
  ratio: 'ratio',
  schedule: 'cron expression',
  serverName: 'host name',
  tokenDigest: '64 hex digits',
  tokenName: 'text, 1 to 64 characters',
};

/**
 * The border to a foreign type: TypeBox knows its schemas by what they let through, not by what
 * they say.
 */
export function plainSchema(schema: TSchema): SchemaNode {
  return JSON.parse(JSON.stringify(schema));
}

/** An item for each key of a mapping and of those inside it, as Markdown. */
export function keyList(node: SchemaNode, prefix = ''): string {
  return markdownList(keyItems(node, prefix));
}

function keyItems(parent: SchemaNode, prefix: string): readonly string[] {
  return Object.entries(parent.properties ?? {}).flatMap(([key, node]) => {
    if (node.properties) return keyItems(node, `${prefix}${key}.`);
    const inside = node.items?.properties ? keyItems(node.items, `${prefix}${key}[].`) : [];
    const standard = standardWords(node, parent.required?.includes(key) ?? false);
    return [`\`${prefix}${key}\` (${typeWords(node)}${standard}): ${meaning(node)}`, ...inside];
  });
}

/** The default, unless it is an empty list or mapping, which goes without saying. */
function standardWords({ default: standard }: SchemaNode, isRequired: boolean): string {
  if (standard === undefined) return isRequired ? '; required' : '';
  const isEmpty = typeof standard === 'object' && standard !== null && Object.keys(standard).length === 0;
  return isEmpty ? '' : `; default ${code(standard)}`;
}

/** The description, with an example where the type does not show how a value is written. */
function meaning({ description = '', examples, items, additionalProperties }: SchemaNode): string {
  const isSimple = additionalProperties === undefined && items?.parsedBy?.parser !== 'pattern' && !items?.items;
  return isSimple || examples === undefined ? description : `${description} Example: ${code(examples[0])}`;
}

function typeWords(node: SchemaNode): string {
  if (node.enum) return `one of ${node.enum.join(', ')}`;
  if (node.items) return `list of ${itemWords(node.items)}`;
  if (node.parsedBy) return [parserWords[node.parsedBy.parser], ...limitWords(node.parsedBy)].join(', ');
  if (typeof node.additionalProperties === 'object' && node.additionalProperties.items)
    return `mapping to a ${typeWords(node.additionalProperties)}`;
  if (node.type === 'integer')
    return `number, ${node.maximum === undefined ? `at least ${node.minimum}` : `${node.minimum} to ${node.maximum}`}`;
  const string = node.opens !== undefined || node.resolves ? 'path' : 'text';
  return { boolean: 'boolean', object: 'mapping of texts', string }[String(node.type)] ?? '';
}

/** The limits of a quantity; 0 goes without saying. */
function limitWords({ from, to }: ParsedBy): readonly string[] {
  if (from !== undefined && to !== undefined) return [`${from} to ${to}`];
  return [...(from === undefined ? [] : [`at least ${from}`]), ...(to === undefined ? [] : [`up to ${to}`])];
}

function code(value: unknown): string {
  if (value === undefined) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function itemWords(item: SchemaNode): string {
  if (item.properties) return 'mappings';
  if (item.items) return `lists of ${itemWords(item.items)}`;
  if (item.enum) return item.enum.length > 10 ? 'names' : item.enum.join(', ');
  return item.parsedBy ? [`${parserWords[item.parsedBy.parser]}s`, ...limitWords(item.parsedBy)].join(', ') : 'texts';
}
