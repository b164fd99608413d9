import { isOneOf } from '../../lib/check.ts';
import type { RunbookLabels } from '../runbooks/runbooks.ts';

export const lists = ['problems', 'appliances', 'certificates', 'activations'] as const;

export type List = (typeof lists)[number];

/** Which events are shown; `since` is a duration or a moment. */
const filters = ['appliance', 'farm', 'event', 'since'] as const;

export type EventFilter = Readonly<Partial<Record<(typeof filters)[number], string | undefined>>>;

/** What a page shows. All but `kind` is the query of its URL; `page` counts from 1, the default. */
export type View =
  | { readonly kind: 'fleet' }
  /** One list in full. */
  | { readonly kind: 'list'; readonly list: List; readonly page?: number }
  | ({ readonly kind: 'events'; readonly list: 'changes'; readonly page?: number } & EventFilter)
  | { readonly kind: 'appliance'; readonly appliance: string; readonly page?: number }
  | { readonly kind: 'farm'; readonly appliance: string; readonly farm: string }
  | { readonly kind: 'certificate'; readonly appliance: string; readonly certificate: string }
  | { readonly kind: 'groups'; readonly by: string; readonly page?: number }
  | { readonly kind: 'group'; readonly by: string; readonly group: string; readonly page?: number }
  | { readonly kind: 'search'; readonly q: string };

/** Longer than any name. */
const maxSearchLength = 200;
const maxPage = 100_000;

/** Parses the query of a request; returns the fleet for an invalid one. */
export function readView(query: Readonly<Record<string, unknown>>): View {
  const appliance = textIn(query, 'appliance');
  const farm = textIn(query, 'farm');
  const certificate = textIn(query, 'certificate');
  const list = textIn(query, 'list');
  const by = textIn(query, 'by');
  const group = textIn(query, 'group');
  const q = textIn(query, 'q')?.trim().slice(0, maxSearchLength);
  if (list === 'changes') {
    const filled = filters.map((name) => [name, textIn(query, name)]).filter(([, value]) => value);
    return { kind: 'events', list, ...Object.fromEntries(filled), page: pageIn(query) };
  }
  if (appliance !== undefined && farm !== undefined) return { kind: 'farm', appliance, farm };
  if (appliance !== undefined && certificate !== undefined) return { kind: 'certificate', appliance, certificate };
  if (appliance !== undefined) return { kind: 'appliance', appliance, page: pageIn(query) };
  if (q) return { kind: 'search', q };
  if (isOneOf(lists, list)) return { kind: 'list', list, page: pageIn(query) };
  if (by !== undefined && group !== undefined) return { kind: 'group', by, group, page: pageIn(query) };
  if (by !== undefined) return { kind: 'groups', by, page: pageIn(query) };
  return { kind: 'fleet' };
}

function textIn(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name];
  return typeof value === 'string' ? value : undefined;
}

function pageIn(query: Readonly<Record<string, unknown>>): number {
  const page = Number(textIn(query, 'page') ?? 1);
  return Number.isInteger(page) && page >= 1 && page <= maxPage ? page : 1;
}

/** Returns a relative URL, which also works behind a proxy with a path of its own. */
export function linkTo(view: View): string {
  const query = queryOf(view);
  return query === '' ? './' : `./?${query}`;
}

/** Returns the URL of the runbook of an alert, with its labels for the commands and queries. */
export function runbookLink(alert: string, labels: RunbookLabels): string {
  const written = new URLSearchParams(Object.entries(labels)).toString();
  return `./runbooks${written === '' ? '' : `?${written}`}#${alert.toLowerCase()}`;
}

/** Returns the canonical query of a view. */
export function queryOf({ kind: _kind, ...view }: View): string {
  const parameters = Object.entries(view).filter(
    ([name, value]) => value !== undefined && (name !== 'page' || value !== 1),
  );
  return new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, String(value)])).toString();
}
