import { hasApi402 } from './world.ts';
import { type Call, crash, failure, json, Refusal } from './call.ts';

/**
 * One parameter of a write: what discovery prints about it, and which values are refused
 * (docs/api.md §1.4, §4).
 */
export interface Parameter {
  readonly required?: true;
  /** An empty value is refused. */
  readonly nonBlank?: true;
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  /** Printed by older releases alone. */
  readonly format?: string;
  /** Whole numbers, the limits included; null is not a limit. */
  readonly interval?: readonly [number | null, number | null];
  readonly hint?: string;
}

export type Model = Readonly<Record<string, Parameter>>;

/** The values sent. JSON booleans become numbers, as on the appliance. */
export type Input = Readonly<Record<string, unknown>>;

export const yesNo: Parameter = { nonBlank: true, values: ['true', 'false'] };
export const natural: Parameter = { nonBlank: true, interval: [0, null] };
export const portNumber: Parameter = { nonBlank: true, interval: [1, 65_535] };
export const ipv4: Parameter = {
  nonBlank: true,
  pattern: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/,
  format: 'ip_addr',
};
export const anyText: Parameter = {};

/** Marks a parameter as required. */
export function required(parameter: Parameter): Parameter {
  return { ...parameter, nonBlank: true, required: true };
}

/** Returns a model in which each name stands for the same parameter. */
export function each(names: readonly string[], parameter: Parameter): Model {
  return Object.fromEntries(names.map((name) => [name, parameter]));
}

/**
 * Checks the body of a write against its model. Refuses an empty body with the list of parameters,
 * others with the first error in the appliance's order: missing, unknown, then each value.
 */
export function checkParameters(call: Call, model: Model): Input {
  // A text body sent to a JSON call crashes the handler (docs/api.md §1.3).
  if (call.json === undefined) return crash();
  const input = Object.fromEntries(
    Object.entries(call.json).map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]),
  );
  if (Object.keys(input).length === 0) throw new Refusal(discovery(call, model));

  const wrong = firstProblem(input, model);
  if (wrong !== undefined) throw new Refusal(failure(400, wrong));
  return input;
}

/** Checks a body that has one parameter, which is required, and returns it. */
export function onlyText(call: Call, name: string, parameter: Parameter): string {
  return text(checkParameters(call, { [name]: required(parameter) }), name);
}

/** Returns a value as text; a number is accepted too. */
export function text(input: Input, name: string, otherwise = ''): string {
  const value = input[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;
}

/** Returns a value as number, or `otherwise` if it was not sent. */
export function number<Otherwise>(input: Input, name: string, otherwise: Otherwise): number | Otherwise {
  const value = text(input, name);
  return value === '' ? otherwise : Number(value);
}

/** Sets the named texts of an object that were sent. */
export function setTexts<Name extends string>(
  target: Record<Name, string>,
  input: Input,
  names: readonly Name[],
): void {
  for (const name of names) target[name] = text(input, name, target[name]);
}

/** Sets the named numbers of an object that were sent. */
export function setNumbers<Name extends string>(
  target: Record<Name, number>,
  input: Input,
  names: readonly Name[],
): void {
  for (const name of names) target[name] = number(input, name, target[name]);
}

function discovery(call: Call, model: Model) {
  const params = Object.entries(model).map(([name, parameter]) => {
    const options = [...(parameter.nonBlank ? ['non_blank'] : []), ...(parameter.required ? ['required'] : [])];
    return {
      name,
      options: options.length > 0 ? options : undefined,
      possible_values: parameter.values,
      interval: parameter.interval && intervalSentence(parameter.interval),
      description: parameter.hint,
      format: hasApi402(call.world) ? undefined : parameter.format,
    };
  });
  return json(400, { message: 'Nothing was sent. These can be:', params });
}

function firstProblem(input: Input, model: Model): string | undefined {
  const missing = Object.keys(model).filter((name) => model[name]?.required && !(name in input));
  if (missing.length > 0) return `Required and not sent: ${missing.join(', ')}.`;
  for (const [name, value] of Object.entries(input)) {
    const parameter = model[name];
    if (!parameter) return `'${name}' does not belong to this call, which takes ${Object.keys(model).join(', ')}.`;
    const problem = problemOf(name, value, parameter);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(name: string, value: unknown, parameter: Parameter): string | undefined {
  const word = typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  if (word === undefined)
    return value === null && !parameter.nonBlank ? undefined : `'${name}' takes a text or a number.`;
  if (word === '') return parameter.nonBlank ? `'${name}' must not be empty.` : undefined;
  if (parameter.values && !parameter.values.includes(word))
    return `'${name}' is one of: ${parameter.values.join(', ')}.`;
  if (parameter.pattern && !parameter.pattern.test(word)) return `'${word}' does not fit '${name}'.`;
  if (parameter.interval && !isInside(word, parameter.interval))
    return `'${name}': ${intervalSentence(parameter.interval)}`;
  return undefined;
}

function isInside(word: string, [low, high]: readonly [number | null, number | null]): boolean {
  return /^(?:0|[1-9]\d*)$/.test(word) && Number(word) >= (low ?? 0) && (high === null || Number(word) <= high);
}

function intervalSentence([low, high]: readonly [number | null, number | null]): string {
  return high === null ? `A whole number from ${low ?? 0}.` : `A whole number between ${low ?? 0} and ${high}.`;
}
