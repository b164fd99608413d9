import { expect, it } from 'vitest';
import { readAdminHeaders } from '../../../../src/admin/http/admin-request.ts';

it.each([
  ['因', 500],
  ['ж', 500],
  ['a b', 166],
])('the length of a reason is counted after decoding: %s', (text, count) => {
  const reason = text.repeat(count);

  expect(readAdminHeaders({ 'x-reason': encodeURIComponent(reason) }).reason).toBe(reason);
  expect(() => readAdminHeaders({ 'x-reason': encodeURIComponent(`${reason}${text}`.padEnd(501, text)) })).toThrow(
    'x-reason is longer than 500 characters',
  );
});

it('a reason of encoded blanks counts as missing', () => {
  expect(readAdminHeaders({ 'x-reason': '%20%20' }).reason).toBeUndefined();
});

it.each(['1', '0', 'yes', 'on', 'TRUE', 'True', 'true, true', 'true;', '"true"', 'truе', ''])(
  'the flag value %j is refused, because a typo must not turn a dry run into a change',
  (value) => {
    for (const name of ['x-dry-run', 'x-force', 'x-break-glass'])
      expect(() => readAdminHeaders({ [name]: value, 'x-reason': 'why' })).toThrow(`${name} is neither true nor false`);
  },
);

it('a confirmation that is too long for the audit is refused', () => {
  expect(() => readAdminHeaders({ 'x-confirm': 'a'.repeat(501) })).toThrow('x-confirm is longer than 500 characters');
});
