import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lists, queryOf, readView, type View } from '../../../src/pages/status/view.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1 });
const page = fc.integer({ min: 1, max: 100_000 });
const anyView: fc.Arbitrary<View> = fc.oneof(
  fc.constant({ kind: 'fleet' } as const),
  fc.record({ kind: fc.constant('list' as const), list: fc.constantFrom(...lists), page }),
  fc.record(
    {
      kind: fc.constant('events' as const),
      list: fc.constant('changes' as const),
      appliance: name,
      farm: name,
      event: name,
      since: name,
      page,
    },
    { requiredKeys: ['kind', 'list', 'page'] },
  ),
  fc.record({ kind: fc.constant('appliance' as const), appliance: name, page }),
  fc.record({ kind: fc.constant('farm' as const), appliance: name, farm: name }),
  fc.record({ kind: fc.constant('certificate' as const), appliance: name, certificate: name }),
  fc.record({ kind: fc.constant('groups' as const), by: name, page }),
  fc.record({ kind: fc.constant('group' as const), by: name, group: fc.string(), page }),
  fc.record({ kind: fc.constant('search' as const), q: fc.string({ minLength: 1 }).map((text) => `x${text}x`) }),
);

describe('the query of a view', () => {
  it('parses back to the same view', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        expect(readView(queryIn(queryOf(view)))).toEqual(view);
      }),
    );
  });

  it.each([
    ['q=', { kind: 'fleet' }],
    ['q=++', { kind: 'fleet' }],
    ['list=nothing', { kind: 'fleet' }],
    ['list=problems&page=0', { kind: 'list', list: 'problems', page: 1 }],
    ['list=problems&page=1e9', { kind: 'list', list: 'problems', page: 1 }],
    ['list=problems&page=x', { kind: 'list', list: 'problems', page: 1 }],
    ['farm=shop', { kind: 'fleet' }],
    ['list=changes&appliance=&farm=&event=&since=', { kind: 'events', list: 'changes', page: 1 }],
  ])('accepts %s', (query, view) => {
    expect(readView(queryIn(query))).toEqual(view);
  });

  it('accepts duplicate parameters', () => {
    expect(readView({ appliance: ['a', 'b'] })).toEqual({ kind: 'fleet' });
  });

  it('limits the length of a search', () => {
    expect(readView({ q: 'x'.repeat(5_000) })).toEqual({ kind: 'search', q: 'x'.repeat(200) });
  });
});

function queryIn(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}
