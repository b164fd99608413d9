// Renders the schema of a body as text.

/** @import { Resolve, Schema } from '../docs-types.js' */

/**
 * Returns a JSON Schema in the notation of TypeScript, with its descriptions as comments. Schemas of
 * the document are not recursive.
 * @param {Schema} given
 * @param {Resolve} resolve
 * @returns {string}
 */
export function shapeOf(given, resolve, indent = '') {
  const schema = resolve(given);
  const { anyOf, items, properties, required = [] } = schema;
  const others = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
  if (anyOf) return [...new Set(anyOf.map((each) => shapeOf(each, resolve, indent)))].join(' | ');
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (items) return `${grouped(shapeOf(items, resolve, indent))}[]${orNull(schema)}`;
  if (!properties && typeof others !== 'object') return [schema.type ?? 'any'].flat().join(' | ');
  const deeper = `${indent}  `;
  const lines = Object.entries(properties ?? {}).flatMap(([name, each]) => [
    ...commentOf(each, deeper),
    `${deeper}${name}${required.includes(name) ? '' : '?'}: ${shapeOf(each, resolve, deeper)}`,
  ]);
  if (typeof others === 'object') lines.push(`${deeper}[name]: ${shapeOf(others, resolve, deeper)}`);
  return `{\n${lines.join('\n')}\n${indent}}${orNull(schema)}`;
}

/**
 * @param {Schema} schema
 * @param {string} indent
 */
function commentOf({ description }, indent) {
  return description === undefined ? [] : description.split('\n').map((line) => `${indent}// ${line}`);
}

/**
 * @param {Schema} schema
 */
function orNull({ type }) {
  return [type].flat().includes('null') ? ' | null' : '';
}

/**
 * @param {string} shape
 */
function grouped(shape) {
  return shape.includes(' | ') && !shape.startsWith('{') ? `(${shape})` : shape;
}
