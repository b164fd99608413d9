import { expect, it } from 'vitest';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import type { Principal } from '../../../../src/admin/policy/principal.ts';
import type { Change, ChangeState } from '../../../../src/admin/changes/change.ts';
import type { ChangesContext } from '../../../../src/admin/changes/context.ts';
import { maySeeChange, refusalOf, shownTo } from '../../../../src/admin/changes/decide.ts';
import { givenPrincipal } from '../../../support/given-principal.ts';
import { givenChange } from './given-change.ts';

const step = {
  title: 'Restart shop',
  call: { operation: 'actOnFarm', risk: 'reversible', method: 'PUT', url: 'https://lb/', body: null },
  findings: [],
  because: [],
  current: { operation: 'readFarm' as const, status: 200, body: 'the farm' },
};
const asked = givenChange({ plan: { facts: [], steps: [step] } });

interface Situation {
  readonly state?: ChangeState;
  readonly frozen?: boolean;
  readonly selfApproval?: boolean;
  /** The person of who asked, by the present configuration, if a reload has changed it. */
  readonly personNow?: string;
}

function givenCore({ frozen = false, selfApproval = false, personNow = 'alice' }: Situation = {}): ChangesContext {
  const store = { find: () => ({ sealed: { person: 'alice', salt: '' } }) };
  return {
    store,
    operations: createOperations(),
    principals: { inForce: () => givenPrincipal({ name: 'alice', person: personNow }) },
    approvals: () => ({ ttlMs: 1, selfApproval }),
    freeze: { state: frozen ? { by: 'root', since: 'noon', reason: 'an incident' } : undefined },
  } as unknown as ChangesContext;
}

const alice = { name: 'alice', person: 'alice', role: 'operator', approver: true } as const;
const bob = { ...alice, name: 'bob', person: 'bob' } as const;

it.each<readonly [string, Partial<Principal>, Situation, readonly string[], RegExp | null]>([
  ['another approver', bob, {}, ['approve', 'deny'], null],
  ['an approver who is admin', { ...bob, role: 'admin' }, {}, ['approve', 'deny', 'cancel'], null],
  ['another approver during a freeze', bob, { frozen: true }, ['deny'], /^root froze all changes on noon/],
  ['a token without the option approver', { ...bob, approver: false }, {}, [], /^The token of bob may not approve/],
  ['an admin without it', { name: 'root', role: 'admin' }, {}, ['cancel'], /^The token of root may not approve/],
  ['the requester', alice, {}, ['cancel'], /^alice asked for it/],
  ['the requester who may approve', alice, { selfApproval: true }, ['approve', 'deny', 'cancel'], null],
  ['a second token of the requester', { ...bob, person: 'alice' }, {}, [], /^alice asked for it/],
  ['a token that a reload gave to the requester', bob, { personNow: 'bob' }, [], /^bob asked for it/],
  ['a token of the requester before a reload', { ...bob, person: 'alice' }, { personNow: 'al' }, [], /^alice asked/],
  ['another approver of a proposal', bob, { state: 'proposed' }, ['approve', 'deny'], null],
  ['another approver once it is approved', bob, { state: 'approved' }, [], /it is approved\. Nothing was sent/],
  ['the requester, once it is denied', alice, { state: 'denied' }, [], /it is denied/],
])('the allowed decisions on a change are correct for %s', (_, who, situation, may, because) => {
  const change = { ...asked, state: situation.state ?? asked.state };

  const shown = shownTo(givenCore(situation), givenPrincipal(who), change);

  expect(shown.may).toEqual(may);
  expect(shown.cannot_approve ?? '').toMatch(because ?? /^$/);
});

it('the refusal of an approver without the role admin names who may cancel', () => {
  const { message, remedy } =
    refusalOf(givenCore(), 'cancel', { change: asked, sealed: null }, givenPrincipal(bob)) ?? {};

  expect(message).toMatch(/^The token of bob may not cancel/);
  expect(remedy).toBe('The token that asked for it may, and the role admin. An approver may deny it.');
});

it.each<readonly [string, Partial<Principal>, boolean]>([
  ['the requester, whatever the token may do', { ...alice, role: 'viewer' }, true],
  ['a token that may make its calls', bob, true],
  ['a role that may not make them', { ...bob, role: 'viewer' }, false],
  ['a token whose list leaves one out', { ...bob, deny: ['actOnFarm'] }, false],
  ['a token for other appliances', { ...alice, appliances: ['lb-2'] }, false],
])('the visibility of a change is correct for %s (%#)', (_, who, isSeen) => {
  expect(maySeeChange(givenCore(), givenPrincipal(who), asked)).toBe(isSeen);
});

it('the object of a plan is shown only to those who may read it', () => {
  const current = (who: Partial<Principal>, change: Change = asked) =>
    shownTo(givenCore(), givenPrincipal(who), change).plan.steps[0]?.current;

  expect(current(bob)).toEqual(step.current);
  expect(current({ ...alice, deny: ['readFarm'] })).toBeNull();
});
