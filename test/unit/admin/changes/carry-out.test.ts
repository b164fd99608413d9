import { expect, it } from 'vitest';
import { AdminError } from '../../../../src/admin/policy/admin-error.ts';
import type { AuditLine } from '../../../../src/admin/journal/record.ts';
import type { Write } from '../../../../src/admin/recipes/calls.ts';
import { callStep } from '../../../../src/admin/recipes/recipe.ts';
import { endingOf, execute } from '../../../../src/admin/changes/carry-out.ts';

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
    sent: false,
  });
});

it.each([
  [200, 'done', '✓ 1 of 1 calls were carried out; the exporter was stopped before it looked at the result.'],
  [500, 'uncertain', '✗ The exporter was stopped during a call, which may have been carried out. Look at the object.'],
  [400, 'failed', '✗ 0 of 1 calls were carried out, and then the exporter was stopped.'],
])('finds in the audit of a stopped exporter that a call was answered with %i', (status, state, line) => {
  const call = { operation: 'actOnFarm', risk: 'reversible', method: 'PUT', url: 'https://lb/', body: null };
  const plan = { facts: [], steps: [{ title: 'Restart shop', call, findings: [], because: [], current: null }] };
  const records = [{ event: 'change', state: 'executing' }, { event: 'intent' }, { event: 'outcome', status }];

  expect(endingOf('executing', plan, records as unknown as readonly AuditLine[])).toEqual({
    state,
    lines: [line],
    code: null,
    sent: true,
  });
});

/** Failures of the call of a step, whether it began to leave, and what became of the change. */
const failures: readonly (readonly [code: string | undefined, status: number | undefined, sent: boolean, string])[] = [
  [undefined, 500, true, 'uncertain'],
  [undefined, 503, true, 'uncertain'],
  [undefined, undefined, true, 'uncertain'],
  ['upstream_timeout', 504, true, 'uncertain'],
  ['upstream_unreachable', 502, true, 'uncertain'],
  ['upstream_malformed', 502, true, 'uncertain'],
  ['internal_error', 500, true, 'uncertain'],
  ['caller_left', 499, true, 'uncertain'],
  ['frozen', 423, true, 'uncertain'],
  ['upstream_unauthorized', 502, true, 'failed'],
  ['upstream_redirect', 502, true, 'failed'],
  [undefined, 400, true, 'failed'],
  [undefined, 404, true, 'failed'],
  ['upstream_unreachable', 502, false, 'failed'],
  ['busy', 503, false, 'failed'],
  ['audit_unavailable', 503, false, 'failed'],
  ['frozen', 423, false, 'failed'],
  ['guarded', 409, false, 'failed'],
];

it.each(failures)('judges a call that failed with %s (%s), sent: %s, as %s, with its way back', async (...failure) => {
  const [code, status, isSent, state] = failure;
  const write = { key: 'actOnFarm', params: { farmname: 'shop' } } as const;
  const steps = ['one', 'two', 'three'].map((title) =>
    callStep({ title, write: { ...write }, done: `${title} is done.`, undo: `undo ${title}` }),
  );
  let calls = 0;

  const ending = await execute(steps, {
    send: () => {
      calls += 1;
      const error = new AdminError('It failed', { detail: 'As it happens.', remedy: '', code, status });
      return calls === 2 ? Promise.reject(error) : Promise.resolve();
    },
    isSent: () => calls === 1 || isSent,
  });

  expect(calls).toBe(2);
  expect(ending).toEqual({
    state,
    lines: [
      '✓ one is done.',
      '✗ two: It failed. As it happens.',
      ...(state === 'uncertain' ? ['If step 2 was carried out nevertheless, undo it with: undo two'] : []),
      'To go back: undo one',
    ],
    code: code ?? null,
    sent: true,
  });
});

it('shows the way back of a step whose call was carried out before it failed', async () => {
  const step = {
    title: 'Restart shop',
    write: { key: 'actOnFarm', params: { farmname: 'shop' } } as const,
    undo: 'start it',
    async run(send: (write: Write) => Promise<void>) {
      await send(this.write);
      throw new AdminError('It is down', { detail: 'It does not start.', remedy: '' });
    },
  };

  const ending = await execute([step], { send: () => Promise.resolve(), isSent: () => true });

  expect(ending).toMatchObject({ state: 'failed', sent: true, lines: [expect.anything(), 'To go back: start it'] });
});
