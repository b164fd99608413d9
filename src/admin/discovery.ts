import type { Relay } from '../appliance/relay.ts';
import { isRecord } from '../lib/check.ts';
import { oneLine } from '../lib/text.ts';
import type { OperationCall } from './operation.ts';
import { AdminProblem } from './problem.ts';
import { refuseAnswer, upstreamProblem } from './upstream-problem.ts';
import { readAnswer } from './buffered-answer.ts';

/** A parameter as described by the appliance (docs/api.md §1.4). */
export interface ParameterDescriptor {
  readonly name: string;
  readonly required: boolean;
  /** An empty value is refused. */
  readonly nonBlank: boolean;
  /** The allowed values; some are live data, such as the appliance's addresses. Never empty. */
  readonly possibleValues?: readonly string[];
  /** A sentence, not two numbers. */
  readonly interval?: string;
  /** A regular expression, which is shown and never executed, or the name of a kind of data. */
  readonly format?: string;
  readonly description?: string;
  /** True if a list of values is expected; `optional` if a single value is accepted too. */
  readonly list: boolean | 'optional';
}

export interface Discovered {
  /** What the call does, in the appliance's words. */
  readonly description: string;
  readonly parameters: readonly ParameterDescriptor[];
}

/** Asks an appliance for the parameters of a call. */
export interface Discovery {
  /** Changes nothing on the appliance. Rejects with an {@link AdminProblem}. */
  discover(call: OperationCall, signal: AbortSignal): Promise<Discovered>;
}

const maxBytes = 1_048_576;
/** Far more than any call has; bounds the comparison of descriptors with a body. */
const maxParameters = 500;
const maxNameLength = 128;
/** A longer list is not checked here: a part of it would make valid values look wrong. */
const maxValues = 1_000;

export function createDiscovery(relay: Pick<Relay, 'send'>): Discovery {
  return {
    async discover({ operation, path }, signal) {
      const { row, method } = operation;
      // An appliance would store any upload.
      if (row.body !== 'json') throw takesNoJson(row.route);
      const body = Buffer.from('{}');
      const request = { method, path, contentType: 'application/json', body, contentLength: body.length, signal };
      const { status, text } = await readAnswer(relay, request, maxBytes).catch((error: unknown) => {
        throw upstreamProblem(error, 'The appliance', false);
      });
      refuseAnswer(status, 'The appliance');
      const answer = parsed(text);
      const { params, description } = answer;
      // Early builds have the sentence in another member, and some answer with another status.
      if ((status !== 400 && status !== 200) || !Array.isArray(params)) throw noList(row.route, status, answer);
      if (params.length > maxParameters) throw tooMany(row.route, params.length);
      return { description: textOf(description) ?? '', parameters: params.flatMap(descriptorOf) };
    },
  };
}

/** Returns a descriptor with the names of the gateway's own API. */
export function parameterMembers({ nonBlank, possibleValues, ...rest }: ParameterDescriptor) {
  return { ...rest, non_blank: nonBlank, ...(possibleValues ? { possible_values: possibleValues } : {}) };
}

function descriptorOf(param: unknown): readonly ParameterDescriptor[] {
  if (!isRecord(param)) return [];
  const { name, options, possible_values: values, ref } = param;
  if (typeof name !== 'string' || name === '' || name.length > maxNameLength) return [];
  const possibleValues = wordsOf(values);
  const words = Array.isArray(options) ? options : [];
  const [interval, format, description] = [param.interval, param.format, param.description].map(textOf);
  return [
    {
      name,
      required: words.includes('required'),
      nonBlank: words.includes('non_blank'),
      ...(possibleValues.length > 0 ? { possibleValues } : {}),
      ...(interval === undefined ? {} : { interval }),
      ...(format === undefined ? {} : { format }),
      ...(description === undefined ? {} : { description }),
      list: listOf(typeof ref === 'string' ? ref.toLowerCase() : ''),
    },
  ];
}

/** Returns true for strings, numbers and booleans. */
function wordsOf(values: unknown): readonly string[] {
  if (!Array.isArray(values) || values.length > maxValues) return [];
  return values.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
}

function listOf(ref: string): ParameterDescriptor['list'] {
  if (!ref.includes('array')) return false;
  return ref.includes('none') ? 'optional' : true;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? oneLine(value, 1_000) : undefined;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    // A page of a web server: the status alone is used.
    return {};
  }
}

function takesNoJson(route: string): AdminProblem {
  return new AdminProblem('unknown_path', {
    detail: `${route} takes no JSON, so it has no parameters to ask for; nothing was sent.`,
    remedy: 'See GET /docs for what its body is.',
  });
}

function tooMany(route: string, count: number): AdminProblem {
  return new AdminProblem('upstream_malformed', {
    detail: `The appliance answered for ${route} with ${count} parameters, more than any call takes.`,
    remedy: 'Check the url of the appliance in the configuration: something else may be listening there.',
  });
}

function noList(route: string, status: number, { message }: Readonly<Record<string, unknown>>): AdminProblem {
  const sentence = textOf(message) ?? 'without a message';
  return new AdminProblem('upstream_malformed', {
    detail: `The appliance answered ${status} instead of the parameters of ${route}: ${sentence.replace(/\.$/, '')}.`,
    remedy: 'Check that what the path names exists, and that this edition and release of the appliance has the call.',
  });
}
