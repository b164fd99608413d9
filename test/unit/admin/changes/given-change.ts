import type { Change } from '../../../../src/admin/changes/change.ts';

/** When the change of a test was made. */
export const created = Date.parse('2026-11-24T01:00:00Z');

/** A change of alice that waits, with the differences that a test names. */
export function givenChange(known: Partial<Change> = {}): Change {
  return {
    id: 'ch-aaaaaaaaaa',
    state: 'pending',
    appliance: 'lb-1',
    title: 'restart-farm farm=shop',
    recipe: 'restart-farm',
    parameters: { farm: 'shop' },
    force: false,
    requested_by: 'alice',
    reason: null,
    alerts: [],
    created: new Date(created).toISOString(),
    expires: new Date(created + 1_800_000).toISOString(),
    digest: 'a'.repeat(64),
    plan: { facts: [], steps: [] },
    decision: null,
    outcome: null,
    ...known,
  };
}
