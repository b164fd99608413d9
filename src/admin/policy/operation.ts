import type { BodyKind, EndpointRow, Method } from '../../appliance/api/row.ts';
import { type Area, type EndpointKey, endpointRows } from '../../appliance/api/table.ts';
import { createRouteMatcher, fillTemplate, fitsSegment, parseRoute } from '../../appliance/route.ts';
import { decodePercent } from '../../lib/text.ts';
import { AdminProblem, methodNotAllowed } from './problem.ts';

/** An operation of the API, from one row of the endpoint table. */
export interface Operation {
  readonly operationId: EndpointKey;
  readonly row: EndpointRow & { readonly area: Area };
  readonly method: Method;
  readonly template: string;
}

export interface OperationCall {
  readonly operation: Operation;
  /** The decoded values of the placeholders. */
  readonly params: Readonly<Record<string, string>>;
  /**
   * Below the appliance's base URL, encoded again from the decoded values: what was checked is what
   * is sent.
   */
  readonly path: string;
  /** True for a read that has its side effect on this farm (docs/api.md §1.7). */
  readonly hasSideEffect?: true;
}

/** Finds operations; only these reach an appliance. */
export type Operations = ReturnType<typeof createOperations>;

const pem = 'application/x-pem-file';
const text = 'text/plain';
/**
 * The content types that are taken for each kind of body, the usual one first; the appliance
 * compares the whole header (docs/api.md §1.3).
 */
export const bodyTypes = {
  json: ['application/json'],
  text: [text, pem],
  pem: [pem, text],
  gzip: ['application/gzip'],
} as const satisfies Record<Exclude<BodyKind, 'none'>, readonly string[]>;

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];
const maxPathLength = 2_048;

export function createOperations() {
  const all = endpointRows.map(([operationId, row]) => ({
    operationId,
    row,
    route: row.route,
    ...parseRoute(row.route),
  }));
  const matcher = createRouteMatcher(all);

  const get = (name: string): Operation | undefined =>
    all.find(({ operationId, row }) => operationId === name || row.route === name);

  /**
   * Returns the call of an operation on the named object; undefined if there is no such operation, a
   * value is missing, or no path can carry it.
   */
  function toCall(name: string, params: Readonly<Record<string, string>>): OperationCall | undefined {
    const operation = get(name);
    if (!operation) return undefined;
    const path = fillTemplate(operation.template, params);
    const isAcceptable = Object.values(params).every((value) => value.split('/').every(isPlainSegment));
    return path === undefined || !isAcceptable ? undefined : { operation, params, path };
  }

  return {
    get,
    toCall,
    /**
     * Finds the operation of a path below the base URL, still percent-encoded. Throws an
     * {@link AdminProblem}.
     */
    find(method: string, path: string): OperationCall {
      assertSafePath(path);
      const match = matcher.match(method, path);
      const found = match && toCall(match.row.operationId, match.params);
      if (found) return found;
      const others = methods.filter((other) => matcher.match(other, path));
      if (others.length > 0) throw methodNotAllowed(others);
      throw new AdminProblem('unknown_path', {
        detail: 'The API of the appliance has no such path, so nothing was sent.',
      });
    },
  };
}

/**
 * Refuses every spelling of a path that another program on the way may interpret differently
 * (docs/api.md §1.1).
 */
function assertSafePath(path: string): void {
  if (path.length > maxPathLength) {
    throw new AdminProblem('path_too_long', {
      detail: `The path has ${path.length} characters, ${maxPathLength} are the most.`,
    });
  }
  const segments = path.split('/').slice(1).map(decodePercent);
  // Other programs may end the path at a number sign.
  const isWhole = path.startsWith('/') && !path.includes('#');
  if (isWhole && segments.every((segment) => segment !== undefined && isPlainSegment(segment))) return;
  throw new AdminProblem('unsafe_path', {
    detail:
      'A segment of the path is empty, a dot segment, encoded twice, or holds an encoded slash, a backslash, a bare number sign or a control character; nothing was sent.',
  });
}

function isPlainSegment(segment: string): boolean {
  return fitsSegment(segment) && !segment.includes('\\') && !/%[0-9a-f]{2}/i.test(segment);
}
