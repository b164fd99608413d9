import type { Operation, OperationCall, Operations } from '../../admin/operation.ts';
import { AdminProblem } from '../../admin/problem.ts';
import { endpoints } from '../../appliance/endpoints/table.ts';
import { closestWord } from '../../config/closest-word.ts';
import { UsageError } from '../command.ts';
import { type Assignment, namesOf, parseAssignments, renameSynonyms, quotable } from './assignments.ts';

/** The call that the words of a command line name. */
export interface Target {
  readonly call: OperationCall;
  /** The values that are not part of the path. */
  readonly fields: readonly Assignment[];
}

interface Named {
  readonly operation: Operation;
  /** Values of placeholders that stand in the given path. */
  readonly params: Readonly<Record<string, string>>;
  readonly rest: readonly string[];
}

/**
 * Reads `actOnFarm farmname=shop action=stop`, `PUT /farms/shop/actions action=stop` in one word or two, or a path alone,
 * which is a read. Throws a UsageError.
 */
export function parseTarget(words: readonly string[], operations: Operations): Target {
  const { operation, params, rest } = nameOperation(words, operations);
  const { taken, left } = fillPlaceholders(operation, params, parseAssignments(rest));
  const call = operations.call(operation, taken);
  if (!call)
    throw new UsageError(
      `a value cannot be part of the path ${operation.template}: it holds a slash or is no name; give the one name of an object`,
    );
  return { call, fields: left };
}

function nameOperation(words: readonly string[], operations: Operations): Named {
  const [first = '', second = '', ...others] = words;
  const spoken = /^(?:(get|post|put|delete)\s+)?(\/.*)$/is.exec(first);
  if (spoken) return byPath(spoken[1] ?? 'GET', spoken[2] ?? '', words.slice(1), operations);
  if (/^(?:get|post|put|delete)$/i.test(first) && second.startsWith('/'))
    return byPath(first, second, others, operations);
  const operation = operations.named(first);
  if (operation) return { operation, params: {}, rest: words.slice(1) };
  const guess = closestWord(first, Object.keys(endpoints));
  throw new UsageError(
    `there is no operation ${JSON.stringify(quotable(first))}${guess ? `; did you mean ${guess}? Otherwise` : ';'} zlb-exporter admin operations WORDS finds them`,
  );
}

function byPath(verb: string, path: string, rest: readonly string[], operations: Operations): Named {
  const method = verb.toUpperCase();
  const templated = operations.named(`${method} ${path}`);
  if (templated) return { operation: templated, params: {}, rest };
  try {
    const { operation, params } = operations.find(method, path);
    return { operation, params, rest };
  } catch (error) {
    if (!(error instanceof AdminProblem)) throw error;
    const others = error.code === 'method_not_allowed' ? `, only ${error.headers.allow}` : '';
    throw new UsageError(
      `there is no ${method} ${quotable(path)}${others}; zlb-exporter admin operations WORDS finds paths`,
    );
  }
}

/** Takes the first value with the name of a placeholder for the path; some bodies have a field of the same name. */
function fillPlaceholders(
  { key, row, template }: Operation,
  params: Readonly<Record<string, string>>,
  assignments: readonly Assignment[],
): { readonly taken: Readonly<Record<string, string>>; readonly left: readonly Assignment[] } {
  const taken = new Map(Object.entries(params));
  const placeholders = placeholdersOf(template);
  const open = new Set(placeholders.filter((name) => !taken.has(name)));
  // Bodies accept the long name of a farm only.
  const wanted = placeholders.includes('farm') ? placeholders : [...placeholders, 'farmname'];
  const left = renameSynonyms(assignments, wanted).filter(({ name, value }) => {
    if (!open.delete(name)) return true;
    taken.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    return false;
  });
  if (open.size > 0)
    throw new UsageError(`${key} is ${row.route}: give ${[...open].map((name) => namesOf(name, '=…')).join(' ')}`);
  return { taken: Object.fromEntries(taken), left };
}

function placeholdersOf(template: string): readonly string[] {
  return [...template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => name);
}
