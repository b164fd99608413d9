import { closestWord, oneLine } from '../../lib/text.ts';
import { UsageError } from '../command.ts';
import type { Operation, OperationCall, Operations } from '../../admin/policy/operation.ts';
import { AdminProblem } from '../../admin/policy/problem.ts';
import { endpoints } from '../../appliance/api/table.ts';
import { recipes } from '../../admin/recipes/recipes.ts';

/** One `name=value` of the command line, or one `name:=json`. */
export interface Assignment {
  readonly name: string;
  /**
   * The text as it was written: the API accepts numbers and booleans as texts too (docs/api.md
   * §1.3).
   */
  readonly value: unknown;
}

/** Reads the words after an operation or a recipe; throws a UsageError. */
function parseAssignments(words: readonly string[]): readonly Assignment[] {
  return words.map((word) => {
    const match = /^([\w.-]+)(:?=)(.*)$/s.exec(word);
    const [, name = '', sign, text = ''] = match ?? [];
    // The message does not repeat the word: it may be a password without its name.
    if (!match) throw new UsageError('what follows must be name=value, or name:=JSON for lists and objects');
    return { name, value: sign === ':=' ? parseValue(name, text) : text };
  });
}

/**
 * Returns a word for a message without what follows `=` or `?`: that may be a password in the wrong
 * place.
 */
export function quotable(word: string): string {
  return oneLine(word.replace(/[=?].*$/s, '…'), 200);
}

function parseValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name}:= needs JSON, such as ${name}:='["eth1","eth2"]'; plain text goes with ${name}=`);
  }
}

/** Returns the values of a recipe, all of them texts; throws a UsageError. */
export function namedValues(words: readonly string[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const { name, value } of parseAssignments(words)) {
    if (values.has(name)) throw new UsageError(`${oneLine(name, 64)} is given twice; leave one out`);
    if (typeof value !== 'string') throw new UsageError(`${oneLine(name, 64)} is a text: ${oneLine(name, 64)}=…`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** The call that the words of a command line name. */
interface CallTarget {
  readonly call: OperationCall;
  /** The values that are not part of the path. */
  readonly fields: readonly Assignment[];
}

interface NamedOperation {
  readonly operation: Operation;
  /** The values of placeholders in the given path. */
  readonly params: Readonly<Record<string, string>>;
  readonly rest: readonly string[];
}

/**
 * Reads `actOnFarm farmname=shop action=stop`, `PUT /farms/shop/actions action=stop` in one word or
 * two, or only a path, which is a read. Throws a UsageError.
 */
export function parseTarget(words: readonly string[], operations: Operations): CallTarget {
  const { operation, params, rest } = nameOperation(words, operations);
  const { taken, left } = fillPlaceholders(operation, params, parseAssignments(rest));
  const call = operations.toCall(operation.operationId, taken);
  if (!call)
    throw new UsageError(
      `a value cannot be part of the path ${operation.template}: it contains a slash or is not a name; give the name of one object`,
    );
  return { call, fields: left };
}

function nameOperation([first = '', ...others]: readonly string[], operations: Operations): NamedOperation {
  const isVerb = /^(?:get|post|put|delete)$/i.test(first) && others[0]?.startsWith('/') === true;
  const [name, rest] = isVerb ? [`${first} ${others[0]}`, others.slice(1)] : [first, others];
  const [, verb = 'GET', path] = /^(?:(get|post|put|delete)\s+)?(\/.*)$/is.exec(name) ?? [];
  if (path !== undefined) return { ...byPath(verb.toUpperCase(), path, operations), rest };
  const operation = operations.get(name);
  if (operation) return { operation, params: {}, rest };
  const guess = closestWord(name, [...recipes.map((recipe) => recipe.name), ...Object.keys(endpoints)]);
  throw new UsageError(
    `there is no recipe or operation ${JSON.stringify(quotable(name))}${guess ? `; did you mean ${guess}? Otherwise` : ';'} zlb-exporter admin operations WORDS finds them`,
  );
}

function byPath(method: string, path: string, operations: Operations): Omit<NamedOperation, 'rest'> {
  const templated = operations.get(`${method} ${path}`);
  if (templated) return { operation: templated, params: {} };
  try {
    return operations.find(method, path);
  } catch (error) {
    if (!(error instanceof AdminProblem)) throw error;
    const others = error.code === 'method_not_allowed' ? `, only ${error.headers.allow}` : '';
    throw new UsageError(
      `there is no ${method} ${quotable(path)}${others}; zlb-exporter admin operations WORDS finds paths`,
    );
  }
}

/**
 * Takes the first value with the name of a placeholder for the path; some bodies have a field of
 * the same name.
 */
function fillPlaceholders(
  { operationId, row, template }: Operation,
  params: Readonly<Record<string, string>>,
  assignments: readonly Assignment[],
): { readonly taken: Readonly<Record<string, string>>; readonly left: readonly Assignment[] } {
  const taken = new Map(Object.entries(params));
  const open = new Set(placeholdersOf(template).filter((name) => !taken.has(name)));
  const left = assignments.filter(({ name, value }) => {
    if (!open.delete(name)) return true;
    taken.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    return false;
  });
  if (open.size > 0)
    throw new UsageError(`${operationId} is ${row.route}: give ${[...open].map((name) => `${name}=…`).join(' ')}`);
  return { taken: Object.fromEntries(taken), left };
}

function placeholdersOf(template: string): readonly string[] {
  return [...template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => name);
}
