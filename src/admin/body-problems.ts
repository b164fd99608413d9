import type { ParameterDescriptor } from './discovery.ts';
import { fitsFormat } from './value-format.ts';
import { limitsOf } from './value-limits.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * What the appliance would refuse in a body, one sentence each, by its own descriptors. Says no value: it may be a
 * password. What cannot be decided from here is left to the appliance.
 */
export function problemsOf(body: Body, parameters: readonly ParameterDescriptor[]): readonly string[] {
  // Some builds describe nothing and yet take something.
  if (parameters.length === 0) return [];
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const names = parameters.map(({ name }) => name);
  const missing = parameters
    .filter(({ name, required }) => required && !Object.hasOwn(body, name))
    .map(({ name }) => `${name} is required and not there.`);
  const wrong = Object.entries(body).flatMap(([name, value]) => {
    const parameter = known.get(name);
    if (!parameter) return [`${name} is not a parameter of this call, which takes ${names.toSorted().join(', ')}.`];
    const problem = problemOf(value, parameter);
    return problem === undefined ? [] : [`${name} ${problem}.`];
  });
  // Nothing at all asks for the parameters and changes nothing.
  const empty = Object.keys(body).length === 0 && missing.length === 0 ? ['At least one parameter must be sent.'] : [];
  return [...empty, ...missing, ...wrong];
}

/** The rest of a sentence that begins with the name. */
function problemOf(value: unknown, parameter: ParameterDescriptor): string | undefined {
  const { list } = parameter;
  if (!Array.isArray(value)) return list === true ? 'takes a list' : problemOfOne(value, parameter);
  if (list === false) return 'takes one value, not a list';
  return value.map((item) => problemOfOne(item, parameter)).find((problem) => problem !== undefined);
}

function problemOfOne(value: unknown, parameter: ParameterDescriptor): string | undefined {
  const { nonBlank, possibleValues, interval = '', format = '' } = parameter;
  // The appliance takes true for 1 (WIRE.md §1.3).
  if (typeof value === 'boolean') return `is a JSON ${value}; send the text "${value}"`;
  // Objects are for a few calls of the Enterprise Edition, whose inside no descriptor describes.
  if (typeof value === 'object' && value !== null) return undefined;
  const word = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  // The document says the opposite; the appliance refuses them (WIRE.md §1.4).
  if (word === '') return nonBlank ? 'must not be empty' : undefined;
  if (possibleValues && !possibleValues.includes(word)) return `is one of ${possibleValues.toSorted().join(', ')}`;
  const limits = limitsOf(interval);
  if (limits && !isWithin(word, limits)) return `is out of its limits: ${interval.replace(/\.$/, '')}`;
  return fitsFormat(word, format) ? undefined : `does not look like ${format}`;
}

function isWithin(word: string, { low, high }: { readonly low?: number; readonly high?: number }): boolean {
  if (!/^-?\d+(?:\.\d+)?$/.test(word)) return false;
  return (low === undefined || Number(word) >= low) && (high === undefined || Number(word) <= high);
}
