import { expect, it } from 'vitest';
import { AdminError } from '../../../src/recipes/admin-error.ts';
import type { AuditLine } from '../../../src/audit/record.ts';
import { endingOf, execute } from '../../../src/requests/execution.ts';

it('describes a failed step in whole sentences', async () => {
  const run = () =>
    Promise.reject(
      new AdminError('Changes are frozen', {
        detail: 'alice is at work. Nothing was sent.',
        remedy: 'Wait',
        code: 'frozen',
      }),
    );

  const ending = await execute([{ title: 'Restart shop', run }], {
    send: () => Promise.resolve(),
    isSent: () => false,
  });

  expect(ending).toEqual({
    state: 'failed',
    lines: ['✗ Restart shop: Changes are frozen. alice is at work. Nothing was sent. Wait.'],
    code: 'frozen',
  });
});

it.each([
  [200, 'done', '✓ 1 of 1 calls were carried out; the exporter was stopped before it looked at the result.'],
  [400, 'failed', '✗ 0 of 1 calls were carried out, and then the exporter was stopped.'],
])('finds in the audit of a stopped exporter that a call was answered with %i', (status, state, line) => {
  const call = { operation: 'actOnFarm', risk: 'reversible', method: 'PUT', url: 'https://lb/', body: null };
  const plan = { facts: [], steps: [{ title: 'Restart shop', call, findings: [], because: [], current: null }] };
  const records = [{ event: 'change_request', state: 'executing' }, { event: 'intent' }, { event: 'outcome', status }];

  expect(endingOf('executing', plan, records as unknown as readonly AuditLine[])).toEqual({
    state,
    lines: [line],
    code: null,
  });
});
