import { isOneOf } from '../../lib/check.ts';

export const lists = ['problems', 'appliances', 'certificates', 'activations', 'changes'] as const;

export type List = (typeof lists)[number];

/** What a page shows. */
export type View =
  | { readonly kind: 'fleet' }
  /** One list in full; pages count from 1. */
  | { readonly kind: 'list'; readonly list: List; readonly page: number }
  | { readonly kind: 'appliance'; readonly appliance: string; readonly page: number }
  | { readonly kind: 'farm'; readonly appliance: string; readonly farm: string }
  | { readonly kind: 'search'; readonly text: string };

/** Longer than any name. */
const maxSearchLength = 200;
const maxPage = 100_000;

/** Parses the query of a request; returns the fleet for an invalid one. */
export function readView(query: Readonly<Record<string, unknown>>): View {
  const appliance = textIn(query, 'appliance');
  const farm = textIn(query, 'farm');
  const list = textIn(query, 'list');
  const search = textIn(query, 'q')?.trim().slice(0, maxSearchLength);
  if (appliance !== undefined && farm !== undefined) return { kind: 'farm', appliance, farm };
  if (appliance !== undefined) return { kind: 'appliance', appliance, page: pageIn(query) };
  if (search) return { kind: 'search', text: search };
  if (isOneOf(lists, list)) return { kind: 'list', list, page: pageIn(query) };
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
