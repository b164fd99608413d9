import { type Static, Type } from 'typebox';
import { isRecord, parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { OperationCall } from '../policy/operation.ts';
import { AdminProblem, assertForwardable, upstreamProblem } from '../policy/problem.ts';
import { type ApplianceSession, readResponse } from './session.ts';

/** A parameter as described by the appliance (docs/api.md §1.4). */
export const ParameterSchema = Type.Object({
  name: Type.String(),
  required: Type.Boolean(),
  non_blank: Type.Boolean({ description: 'An empty value is refused.' }),
  possible_values: Type.Optional(
    Type.Immutable(
      Type.Array(Type.String(), {
        description: 'The allowed values; some are live data, such as the addresses of the appliance. Never empty.',
      }),
    ),
  ),
  interval: Type.Optional(Type.String({ description: 'A sentence, not two numbers.' })),
  format: Type.Optional(
    Type.String({ description: 'A regular expression, which is never executed, or the name of a kind of data.' }),
  ),
  description: Type.Optional(Type.String()),
  list: Type.Union([Type.Boolean(), Type.Literal('optional')], {
    description: 'True if it takes a list; `optional` if it takes a single value too.',
  }),
});
export type ParameterDescriptor = Readonly<Static<typeof ParameterSchema>>;

export interface OperationParameters {
  /** The purpose of the call, in the appliance's words. */
  readonly description: string;
  readonly parameters: readonly ParameterDescriptor[];
}

const maxBytes = 1_048_576;
/** Limits the comparison of descriptors with a body; no call has that many. */
const maxParameters = 500;
const maxNameLength = 128;
/** A longer list is not checked here: a part of it would make valid values look wrong. */
const maxValues = 1_000;

/**
 * Asks an appliance for the parameters of a call, which changes nothing. Rejects with an
 * {@link AdminProblem}.
 */
export async function discover(
  session: Pick<ApplianceSession, 'send' | 'signal'>,
  { operation, path }: OperationCall,
): Promise<OperationParameters> {
  const { row, method } = operation;
  const { route } = row;
  // An appliance would store any upload.
  if (row.body !== 'json') {
    const detail = `${route} takes no JSON, so it has no parameters to ask for; nothing was sent.`;
    throw new AdminProblem('unknown_path', { detail });
  }
  const body = Buffer.from('{}');
  const request = { method, path, contentType: 'application/json', body, contentLength: body.length };
  const { status, text } = await readResponse(session, request, maxBytes).catch((error: unknown) => {
    throw upstreamProblem(error, 'The appliance', 'read');
  });
  assertForwardable(status, 'The appliance');
  // A page of a web server is not JSON: then only the status is used.
  const response = parseJson(text);
  const { params, description, message } = isRecord(response) ? response : {};
  // Early builds have the sentence in another member, and some answer with another status.
  if ((status !== 400 && status !== 200) || !Array.isArray(params)) throw missingParameters(route, status, message);
  if (params.length > maxParameters) {
    const detail = `The appliance answered for ${route} with ${params.length} parameters, more than any call takes.`;
    throw new AdminProblem('upstream_malformed', { detail });
  }
  return { description: nonEmptyText(description) ?? '', parameters: params.flatMap(descriptorOf) };
}

function descriptorOf(param: unknown): readonly ParameterDescriptor[] {
  if (!isRecord(param)) return [];
  const { name, options, possible_values: values, ref } = param;
  if (typeof name !== 'string' || name === '' || name.length > maxNameLength) return [];
  const possible = possibleValuesOf(values);
  const words = Array.isArray(options) ? options : [];
  const [interval, format, description] = [param.interval, param.format, param.description].map(nonEmptyText);
  return [
    {
      name,
      required: words.includes('required'),
      non_blank: words.includes('non_blank'),
      ...(possible.length > 0 ? { possible_values: possible } : {}),
      ...(interval === undefined ? {} : { interval }),
      ...(format === undefined ? {} : { format }),
      ...(description === undefined ? {} : { description }),
      list: listOf(typeof ref === 'string' ? ref.toLowerCase() : ''),
    },
  ];
}

/** Returns the strings and numbers of a list; none for a list that is too long. */
function possibleValuesOf(values: unknown): readonly string[] {
  if (!Array.isArray(values) || values.length > maxValues) return [];
  return values.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
}

function listOf(ref: string): ParameterDescriptor['list'] {
  if (!ref.includes('array')) return false;
  return ref.includes('none') ? 'optional' : true;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? oneLine(value, 1_000) : undefined;
}

function missingParameters(route: string, status: number, message: unknown): AdminProblem {
  const sentence = nonEmptyText(message) ?? 'without a message';
  return new AdminProblem('upstream_malformed', {
    detail: `The appliance answered ${status} instead of the parameters of ${route}: ${sentence.replace(/\.$/, '')}.`,
    remedy: 'Check that what the path names exists, and that this edition and release of the appliance has the call.',
  });
}

type RefusalBody = Readonly<Record<string, unknown>>;

/**
 * Returns what the appliance would refuse in a body by its own descriptors, one sentence each.
 * Quotes no values, which may be passwords. Limits and formats are left to the appliance: they are
 * sentences, and `parameters` shows them.
 */
export function validationProblems(body: RefusalBody, parameters: readonly ParameterDescriptor[]): readonly string[] {
  // Some builds accept parameters without describing any.
  if (parameters.length === 0) return [];
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const missing = [...known.values()]
    .filter(({ name, required }) => required && !Object.hasOwn(body, name))
    .map(({ name }) => `${name} is required and not there.`);
  const wrong = Object.entries(body).flatMap(([name, value]) => {
    const parameter = known.get(name);
    const problem = parameter && valueProblem(value, parameter);
    return problem === undefined ? [] : [`${name} ${problem}.`];
  });
  // An empty body asks for the parameters and changes nothing.
  const empty = Object.keys(body).length === 0 && missing.length === 0 ? ['At least one parameter must be sent.'] : [];
  return [...empty, ...missing, ...wrong, ...unknownNames(body, [...known.keys()])];
}

/** Returns one sentence for all unknown names: one for each would list all parameters again. */
function unknownNames(body: RefusalBody, names: readonly string[]): readonly string[] {
  const known = new Set(names);
  const strange = Object.keys(body).filter((name) => !known.has(name));
  if (strange.length === 0) return [];
  const are = strange.length === 1 ? 'is not a parameter' : 'are not parameters';
  return [`${strange.join(', ')} ${are} of this call, which takes ${names.toSorted().join(', ')}.`];
}

/** Returns the rest of a sentence that begins with the name. */
function valueProblem(value: unknown, parameter: ParameterDescriptor): string | undefined {
  const { list } = parameter;
  const check = createValueCheck(parameter);
  if (!Array.isArray(value)) return list === true ? 'takes a list' : check(value);
  if (list === false) return 'takes one value, not a list';
  for (const item of value) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Creates a check once for all items of a list: the allowed values may be many. */
function createValueCheck(parameter: ParameterDescriptor): (value: unknown) => string | undefined {
  const { non_blank: isNonBlank, possible_values: values } = parameter;
  const possible = values && new Set(values);
  return (value) => {
    // The appliance takes true for 1 (docs/api.md §1.3).
    if (typeof value === 'boolean') return `is a JSON ${value}; send the text "${value}"`;
    // A few calls of the Enterprise Edition take objects, whose members no descriptor describes.
    if (typeof value === 'object' && value !== null) return undefined;
    const word = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    // The document says the opposite; the appliance refuses them.
    if (word === '') return isNonBlank ? 'must not be empty' : undefined;
    return possible && !possible.has(word) ? `is one of ${[...possible].toSorted().join(', ')}` : undefined;
  };
}
