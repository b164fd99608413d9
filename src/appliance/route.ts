import { decodePercent } from '../lib/text.ts';
import type { Method, Route } from './api/row.ts';

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Bare}*` ? Bare : Name) | ParamNames<Rest>
  : never;

/** The path parameters of a route, by the names of its placeholders. */
export type RouteParams<R extends string> = { readonly [Name in ParamNames<R>]: string };

export interface ParsedRoute {
  readonly method: Method;
  /** The path as in the table, placeholders included: the low-cardinality `endpoint` label. */
  readonly template: string;
}

/** Splits `GET /stats/farms/{farmname}` into its verb and its template. */
export function parseRoute(route: Route): ParsedRoute {
  const space = route.indexOf(' ');
  return { method: route.slice(0, space) as Method, template: route.slice(space + 1) };
}

/**
 * Fills a template and encodes it. Returns undefined for a value that would change which route is
 * called: the appliance decodes the whole path before it routes, so `%2F` is a slash to it, and it
 * serves `/farms/webshop%0a` as the farm webshop.
 */
export function fillTemplate(template: string, params: Readonly<Record<string, string>>): string | undefined {
  let refused = false;
  const path = template.replaceAll(/\{([^}*]+)(\*?)\}/g, (_, name: string, rest: string) => {
    const value = params[name] ?? '';
    refused ||= rest === '' ? !fitsSegment(value) : value === '';
    return value;
  });
  const segments = path.split('/').slice(1);
  return refused || !segments.every(isSafeSegment) ? undefined : `/${segments.map(encodeSegment).join('/')}`;
}

/** Returns false for a name that no path can have as one segment: see {@link fillTemplate}. */
export function fitsSegment(name: string): boolean {
  return isSafeSegment(name) && !name.includes('/');
}

/**
 * Returns false for a decoded path segment that must not be sent: see {@link fillTemplate}. UTF-8
 * has no half of a surrogate pair.
 */
function isSafeSegment(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..') return false;
  return segment.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(segment);
}

// Colons stand in interface names (`eth0:web`), and the appliance's own clients send them as they
// are.
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%3A', ':');
}

interface RouteMatch<Row> {
  readonly row: Row;
  readonly params: Readonly<Record<string, string>>;
}

interface Candidate<Row> {
  readonly row: Row;
  readonly template: string;
  readonly rank: string;
  /** Made at its first use: most rows of a table are never asked for. */
  pattern?: Pattern;
}

interface Pattern {
  readonly expression: RegExp;
  /** The names of its placeholders, in their order. */
  readonly names: readonly string[];
}

/** Compiles a table into a matcher: literal segments win over `{x}`, and `{x*}` comes last. */
export function createRouteMatcher<Row extends { readonly route: Route }>(rows: Iterable<Row>) {
  // Every template begins with a literal segment, which leaves few to try.
  const byStart = new Map<string, Candidate<Row>[]>();
  for (const row of rows) {
    const { method, template } = parseRoute(row.route);
    const start = startOf(method, template);
    byStart.set(start, [...(byStart.get(start) ?? []), { row, template, rank: rankOf(template) }]);
  }
  for (const candidates of byStart.values()) candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1));

  return {
    /**
     * Finds the row of a `path` below the base URL, which begins with a slash and is still
     * percent-encoded.
     */
    match(method: string, path: string): RouteMatch<Row> | undefined {
      // Decoded first, as the appliance does: `/certificates/%61ctivation` is the licence, not a
      // certificate.
      const decoded = decodePercent(path);
      if (decoded === undefined) return undefined;
      for (const candidate of byStart.get(startOf(method, decoded)) ?? []) {
        const { expression, names } = (candidate.pattern ??= compile(candidate.template));
        const match = expression.exec(decoded);
        if (!match) continue;
        const params = Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
        return { row: candidate.row, params };
      }
      return undefined;
    },
  };
}

function startOf(method: string, path: string): string {
  return `${method} ${path.split('/', 2)[1] ?? ''}`;
}

function compile(template: string): Pattern {
  const names: string[] = [];
  const source = template
    .replaceAll(/[.*+?^$()|[\]\\]/g, (char) => (char === '*' ? char : `\\${char}`))
    .replaceAll(/\{([^}*]+)(\*?)\}/g, (_, name: string, rest: string) => {
      names.push(name);
      return rest === '*' ? '(.+)' : '([^/]+)';
    });
  return { expression: new RegExp(`^${source}$`, 's'), names };
}

/**
 * Returns a digit for each segment: '0' literal, '1' one segment, '2' the rest; a string comparison
 * then prefers literals from the left.
 */
function rankOf(template: string): string {
  return template
    .split('/')
    .map((segment) => (segment.includes('*}') ? '2' : segment.includes('{') ? '1' : '0'))
    .join('');
}

/** The documented base path, and the one of older product lines (docs/api.md §1.1). */
export const knownBasePaths = ['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'] as const;
