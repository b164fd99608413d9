import type { ParameterDescriptor } from './discovery.ts';
import { isIP, isIPv4, isIPv6 } from 'node:net';

type Body = Readonly<Record<string, unknown>>;

/**
 * Returns what the appliance would refuse in a body by its own descriptors, one sentence each.
 * Quotes no values, which may be passwords. Leaves to the appliance what cannot be decided here.
 */
export function problemsOf(body: Body, parameters: readonly ParameterDescriptor[]): readonly string[] {
  // Some builds accept parameters without describing any.
  if (parameters.length === 0) return [];
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const missing = [...known.values()]
    .filter(({ name, required }) => required && !Object.hasOwn(body, name))
    .map(({ name }) => `${name} is required and not there.`);
  const wrong = Object.entries(body).flatMap(([name, value]) => {
    const parameter = known.get(name);
    const problem = parameter && problemOf(value, parameter);
    return problem === undefined ? [] : [`${name} ${problem}.`];
  });
  // An empty body asks for the parameters and changes nothing.
  const empty = Object.keys(body).length === 0 && missing.length === 0 ? ['At least one parameter must be sent.'] : [];
  return [...empty, ...missing, ...wrong, ...unknownNames(body, [...known.keys()])];
}

/** Returns one sentence for all unknown names: each alone would list all parameters of the call. */
function unknownNames(body: Body, names: readonly string[]): readonly string[] {
  const known = new Set(names);
  const strange = Object.keys(body).filter((name) => !known.has(name));
  if (strange.length === 0) return [];
  const are = strange.length === 1 ? 'is not a parameter' : 'are not parameters';
  return [`${strange.join(', ')} ${are} of this call, which takes ${names.toSorted().join(', ')}.`];
}

/** Returns the rest of a sentence that begins with the name. */
function problemOf(value: unknown, parameter: ParameterDescriptor): string | undefined {
  const { list } = parameter;
  const judge = createJudge(parameter);
  if (!Array.isArray(value)) return list === true ? 'takes a list' : judge(value);
  if (list === false) return 'takes one value, not a list';
  for (const item of value) {
    const problem = judge(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Prepared once for all items of a list: the list and the allowed values may be long. */
function createJudge(parameter: ParameterDescriptor): (value: unknown) => string | undefined {
  const { nonBlank, possibleValues, interval = '', format = '' } = parameter;
  const possible = possibleValues && new Set(possibleValues);
  const limits = limitsOf(interval);
  return (value) => {
    // The appliance takes true for 1 (docs/api.md §1.3).
    if (typeof value === 'boolean') return `is a JSON ${value}; send the text "${value}"`;
    // A few calls of the Enterprise Edition take objects, whose members no descriptor describes.
    if (typeof value === 'object' && value !== null) return undefined;
    const word = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    // The document says the opposite; the appliance refuses them (docs/api.md §1.4).
    if (word === '') return nonBlank ? 'must not be empty' : undefined;
    if (possible && !possible.has(word)) return `is one of ${[...possible].toSorted().join(', ')}`;
    if (limits && !isWithin(word, limits)) return `is out of its limits: ${interval.replace(/\.$/, '')}`;
    return fitsFormat(word, format) ? undefined : `does not look like ${format}`;
  };
}

function isWithin(word: string, { low, high }: ValueLimits): boolean {
  if (!/^-?\d+(?:\.\d+)?$/.test(word)) return false;
  return (low === undefined || Number(word) >= low) && (high === undefined || Number(word) <= high);
}

export interface ValueLimits {
  readonly low?: number;
  readonly high?: number;
}

/**
 * Parses the inclusive limits in a sentence of the appliance; undefined if it is not understood.
 */
function limitsOf(sentence: string): ValueLimits | undefined {
  const numbers = sentence.match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const [first, second] = numbers;
  if (first === undefined || numbers.length > 2) return undefined;
  if (second !== undefined) return first <= second ? { low: first, high: second } : undefined;
  const [isLow, isHigh] = [lowWords.test(sentence), highWords.test(sentence)];
  if (isLow === isHigh) return undefined;
  return isLow ? { low: first } : { high: first };
}

const lowWords = /\b(?:from|least|minimum|min|greater|bigger|higher|more|above|low limit)\b/i;
const highWords = /\b(?:up to|most|maximum|max|less|lower|smaller|below|high limit)\b/i;

/** The kinds of data with the same meaning on every release. */
const kinds: Readonly<Record<string, (word: string) => boolean>> = {
  ip_addr: (word) => isIP(word) !== 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  port: (word) => /^[1-9]\d{0,4}$/.test(word) && Number(word) <= 65_535,
  farm_name: (word) => /^[a-zA-Z0-9-]+$/.test(word),
};

/**
 * Returns true if a value fits a format of the appliance, or if that cannot be decided here. Does
 * not execute the appliance's regular expressions: one that backtracks would block the process.
 */
export function fitsFormat(word: string, format: string): boolean {
  const kind = Object.hasOwn(kinds, format) ? kinds[format] : undefined;
  return kind ? kind(word) : true;
}
