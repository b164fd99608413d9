import { expect, it } from 'vitest';
import { clearanceOf } from '../../../../src/admin/calls/approval.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import type { AdminCall, CallPermit } from '../../../../src/admin/calls/admin-call.ts';
import { givenPrincipal } from '../../../support/given-principal.ts';

type Asked = Partial<Pick<AdminCall, 'breakGlass' | 'permit'>> & { readonly mayBreakGlass?: boolean };

const permit = { isApproved: true, isRollback: false } as CallPermit;

const requiredFor = ['destructive', 'disruptive', 'reversible'] as const;
const remove = ['DELETE', '/farms/shop'] as const;
const upload = ['PUT', '/system/backup/one'] as const;

it.each<[what: string, call: readonly [string, string], asked: Asked, outcome: string]>([
  ['a call of another risk', ['GET', '/farms'] as const, {}, 'cleared'],
  ['an approved call', remove, { permit }, 'cleared'],
  ['a destructive call', remove, {}, 'needs_approval'],
  ['a call of a change that ran at once', remove, { permit: { ...permit, isApproved: false } }, 'needs_approval'],
  ['a call of its rollback', remove, { permit: { ...permit, isApproved: false, isRollback: true } }, 'cleared'],
  ['one that breaks glass', remove, { breakGlass: true }, 'break_glass_denied'],
  ['one that breaks glass and may', remove, { breakGlass: true, mayBreakGlass: true }, 'break_glass'],
  ['one that may break glass and does not', remove, { mayBreakGlass: true }, 'needs_approval'],
  ['a file, which is not kept', upload, {}, 'cannot_wait'],
])('the approval check has the right outcome for %s', (_, [method, path], parts, outcome) => {
  const { mayBreakGlass = false, ...asked }: Asked = parts;
  const principal = givenPrincipal({ breakGlass: mayBreakGlass });
  const target = createOperations().find(method, path);

  const said = clearanceOf({ requiredFor }, { principal, breakGlass: false, target, ...asked });

  expect(said instanceof AdminProblem ? said.code : said).toBe(outcome);
});
