import { Ajv, type AnySchemaObject, type ErrorObject, type SchemaObject, type SchemaValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { isRecord } from '../lib/check.ts';
import type { Path, Problems } from './problems.ts';
import { parsers } from './parsers.ts';
import { ownKeywords, type ParsedBy } from './schema-parts.ts';
import type { YamlSource } from './yaml-file.ts';
import { closestWord, isOneLine } from '../lib/text.ts';

/**
 * Parses every value of a source in place and fills in the defaults. Reports all that does not fit
 * the schema, and then returns undefined.
 */
export type StructureReader<Schema extends TSchema> = (
  source: YamlSource,
  problems: Problems,
) => Static<Schema> | undefined;

export function createStructureReader<Schema extends TSchema>(schema: Schema): StructureReader<Schema> {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    coerceTypes: true,
    strictTypes: false,
    // The schemas are typed: to check them at run time takes longer than to compile them.
    validateSchema: false,
    // To optimize the code takes longer than it saves: it runs once for each reading of the file.
    code: { optimize: false },
  });
  ajv.addVocabulary(ownKeywords.filter((each) => each !== 'parsedBy'));
  ajv.addKeyword({ keyword: 'parsedBy', type: 'string', modifying: true, errors: true, validate: createParsing() });
  const validate = ajv.compile<Static<Schema>>(withDefinitions(schema));
  return (source, problems) => {
    if (validate(source.value)) return source.value;

    const errors = validate.errors ?? [];
    // With `verbose`, the errors would keep the whole source in memory until the next validation.
    validate.errors = null;
    for (const error of errors.filter(isRootError)) {
      if (problems.isFull) break;
      const { path, part } = locationOf(error, source.value);
      const place = source.locate(path, part);
      problems.report(place, structureMessage(error, place.written));
    }
    return undefined;
  };
}

/**
 * Returns a copy in which a mapping that occurs several times is defined once: Ajv would generate
 * code for each, and that of a collector occurs 40 times. A reference cannot have a default.
 */
function withDefinitions(schema: TSchema): SchemaObject {
  const seen = new Set<unknown>();
  const repeated = new Map<unknown, string>();
  JSON.stringify(schema, (_key, part: unknown) => {
    if (isRecord(part) && part.type === 'object' && !('default' in part)) {
      if (seen.has(part)) repeated.set(part, repeated.get(part) ?? `part${repeated.size}`);
      seen.add(part);
    }
    return part;
  });
  const referring = (own: unknown) => (_key: string, part: unknown) =>
    part !== own && repeated.has(part) ? { $ref: `#/$defs/${repeated.get(part)}` } : part;
  const copy = (part: unknown) => JSON.parse(JSON.stringify(part, referring(part)));
  return { ...copy(schema), $defs: Object.fromEntries([...repeated].map(([part, name]) => [name, copy(part)])) };
}

/** Creates the keyword `parsedBy`, which replaces a text by the value that its parser returns. */
function createParsing(): SchemaValidateFunction {
  const parsing: SchemaValidateFunction = ({ parser, ...limits }: ParsedBy, text: string, _schema, context) => {
    const outcome = parsers[parser](text, limits);
    if ('error' in outcome) {
      parsing.errors = [{ keyword: 'parsedBy', message: outcome.error, params: {} }];
      return false;
    }
    if (context) Object.assign(context.parentData, { [context.parentDataProperty]: outcome.value });
    return true;
  };
  return parsing;
}

/** Returns false for an error of Ajv that only explains another one. */
function isRootError({ keyword, schemaPath, propertyName, data }: ErrorObject): boolean {
  if (/\/(?:one|any)Of\//.test(schemaPath) || propertyName !== undefined) return false;
  return !['anyOf', 'oneOf', 'not'].includes(keyword) || isRecord(data);
}

/** Returns the path that an error is about; the key may be missing or unknown. */
function locationOf({ keyword, instancePath, params }: ErrorObject, root: unknown): { path: Path; part?: 'key' } {
  const path = pathOf(instancePath, root);
  switch (keyword) {
    case 'additionalProperties':
      return { path: [...path, params.additionalProperty], part: 'key' };
    case 'propertyNames':
      return { path: [...path, params.propertyName], part: 'key' };
    case 'required':
      return { path: [...path, params.missingProperty] };
    case 'anyOf':
      return { path: ['appliances'] };
    case 'oneOf':
      return { path: [...path, 'api_key'], part: 'key' };
    case 'not':
      return { path: [...path, 'admin_api_key'], part: 'key' };
    default:
      return { path };
  }
}

function pathOf(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let inside = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(inside) ? Number(key) : key);
    inside = valueAt(inside, key);
  }
  return path;
}

function valueAt(inside: unknown, key: string): unknown {
  if (Array.isArray(inside)) return inside[Number(key)];
  return isRecord(inside) ? inside[key] : undefined;
}

/** The parsers whose input a message may quote: nobody writes an API key in place of a duration. */
const quotableParsers = new Set<unknown>(['byteSize', 'duration', 'ratio']);

/** Values as short as a number, a duration or a size may be quoted: API keys are longer. */
const maxQuotedLength = 15;

/**
 * Returns what to do about a value that does not fit the schema; `written` is the value as in the
 * file.
 */
function structureMessage(error: ErrorObject, written: string | undefined): string {
  const { keyword, params, schema, parentSchema = {}, message = 'does not fit' } = error;
  const got = written !== undefined && isOneLine(written, maxQuotedLength) ? `, got ${JSON.stringify(written)}` : '';
  switch (keyword) {
    case 'additionalProperties':
      return unknownKey(params.additionalProperty, Object.keys(parentSchema.properties));
    case 'required':
      return `is missing; add it${suchAs(parentSchema.properties[params.missingProperty])}`;
    case 'type':
      return wrongType(parentSchema, got);
    case 'enum':
      return `must be one of ${parentSchema.enum.join(', ')}`;
    case 'minimum':
    case 'maximum':
      return `must be ${range(parentSchema)}${got}`;
    case 'minItems':
      return `is an empty list; write one${suchAs(parentSchema)}${parentSchema.default ? `, or remove the key for ${JSON.stringify(parentSchema.default)}` : ''}`;
    case 'minLength':
      return `is empty; give it a value${suchAs(parentSchema)}`;
    case 'propertyNames':
      return labelNameMessage(params.propertyName, parentSchema.propertyNames.not.enum);
    case 'anyOf':
      return `lists no appliance; write one${suchAs(parentSchema.properties.appliances)}`;
    case 'oneOf':
      return params.passingSchemas === null
        ? 'is missing; add it, or better api_key_file with the path of a file that holds the key'
        : 'contradicts api_key_file; remove one of the two';
    case 'not':
      return 'contradicts admin_api_key_file; remove one of the two';
    default:
      return `${message}${isRecord(schema) && quotableParsers.has(schema.parser) ? got : ''}`;
  }
}

function labelNameMessage(name: string, reserved: readonly string[]): string {
  return reserved.includes(name)
    ? `is a label of the metrics or alerts of zlb-exporter; Prometheus would rename that one to exported_${name}, and alerts would not fire; choose another name, such as appliance_${name}`
    : 'is not a valid label name; use letters, digits and _, and do not begin with a digit or __';
}

function wrongType(schema: AnySchemaObject, got: string): string {
  switch (schema.type) {
    case 'boolean':
      return `must be true or false${got}`;
    case 'integer':
      return `must be a whole number ${range(schema)}${got}`;
    case 'array':
      return `must be a list${suchAs(schema)}`;
    case 'object':
      return `must be a mapping of keys and values${suchAs(schema)}`;
    default:
      return `must be a single value${suchAs(schema)}`;
  }
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = closestWord(key, known);
  return `unknown key; ${meant === undefined ? `the keys here are ${known.join(', ')}` : `did you mean "${meant}"?`}`;
}

function suchAs({ examples = [] }: AnySchemaObject): string {
  const [example] = examples;
  if (example === undefined) return '';
  return `, such as ${typeof example === 'string' ? example : JSON.stringify(example)}`;
}

function range({ minimum, maximum }: AnySchemaObject): string {
  return maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
}
