import { describe, expect, it } from 'vitest';
import { AdminError } from '../../../../src/admin/policy/admin-error.ts';
import type { AuditLine } from '../../../../src/admin/journal/record.ts';
import type { CallResponse, Write } from '../../../../src/admin/recipes/calls.ts';
import { callStep, type Step } from '../../../../src/admin/recipes/recipe.ts';
import { endingOf } from '../../../../src/admin/changes/recover.ts';
import { permitFor, runSteps, type StepParts } from '../../../../src/admin/changes/run.ts';
import type { AdminCall } from '../../../../src/admin/calls/admin-call.ts';
import type { StepEvent } from '../../../../src/admin/changes/change.ts';
import { givenChange } from './given-change.ts';

const write = { operationId: 'actOnFarm', params: { farmname: 'shop' } } as const;
const changing = (name: string): Step =>
  callStep({
    title: `Change ${name}`,
    write: { ...write },
    done: `${name} is changed.`,
    undoCommand: `put ${name} back`,
  });
const looking = (name: string, error?: Error): Step => ({
  title: `Look at ${name}`,
  run: () => (error ? Promise.reject(error) : Promise.resolve(`${name} is fine.`)),
});
const failed = new AdminError('It failed', { detail: 'As it happens.', remedy: '', status: 400 });

/** Runs steps; the answers are the failures of their calls, in order. */
async function run(
  steps: readonly Step[],
  answers: readonly (Error | undefined)[] = [],
  { leaves = () => true, ...known }: Partial<StepParts> & { readonly leaves?: () => boolean } = {},
) {
  const events: StepEvent[] = [];
  const left = [...answers];
  let calls = 0;
  const ending = await runSteps(steps, {
    calls: {
      buildCall: () => ({ stage: 'new' }) as AdminCall,
      send(call) {
        calls += 1;
        if (leaves()) call.stage = 'sent';
        const answer = left.shift();
        return answer ? Promise.reject(answer) : Promise.resolve({ status: 200 } as CallResponse);
      },
      read: () => Promise.reject(new Error('no step reads with the approval')),
    },
    signal: new AbortController().signal,
    runRollback: () => Promise.reject(new Error('no step has a rollback')),
    onEvent: (event) => events.push(event),
    ...known,
  });
  return { ending, events, calls };
}

it('the steps of a change report when they begin and when they end', async () => {
  const { ending, events } = await run([changing('a'), looking('b')]);

  expect(events).toEqual([
    { event: 'begin', step: 1, title: 'Change a' },
    { event: 'end', step: 1, ok: true, line: '✓ 1. a is changed.' },
    { event: 'begin', step: 2, title: 'Look at b' },
    { event: 'end', step: 2, ok: true, line: '✓ 2. b is fine.' },
  ]);
  expect(ending).toEqual({
    state: 'done',
    lines: ['✓ 1. a is changed.', '✓ 2. b is fine.'],
    code: null,
    sent: true,
  });
});

it('the steps of a change stop at a failure, and report what was done, what was not, and how to undo it', async () => {
  const { ending, calls } = await run([changing('a'), changing('b'), looking('b', failed), looking('c')]);

  expect(calls).toBe(2);
  expect(ending.lines).toEqual([
    '✓ 1. a is changed.',
    '✓ 2. b is changed.',
    '✗ 3. Look at b: It failed. As it happens.',
    'Done: 1. Change a; 2. Change b.',
    'Not done: 4. Look at c.',
    'To go back: put b back',
    'To go back: put a back',
  ]);
});

it('the steps of a change explain a failure in whole sentences, and that nothing was changed before', async () => {
  const frozen = new AdminError('Changes are frozen', {
    detail: 'alice is at work. Nothing was sent.',
    remedy: 'Wait',
    code: 'frozen',
  });

  const { ending } = await run([looking('x'), looking('shop', frozen)]);

  expect(ending).toEqual({
    state: 'failed',
    lines: [
      '✓ 1. x is fine.',
      '✗ 2. Look at shop: Changes are frozen. alice is at work. Nothing was sent. Wait.',
      'Nothing was changed before that.',
    ],
    code: 'frozen',
    sent: false,
  });
});

it('the steps of a change run the rollback of a failed step, whatever failed in it', async () => {
  const rollback = { writes: [], run: () => Promise.resolve(''), manualRemedy: 'Look at shop.' };
  const steps = [changing('a'), looking('b', failed)].map((step) => ({ ...step, rollback }));

  const rolledBack = await run(steps, [], { runRollback: () => Promise.resolve('shop has old.pem, as before.') });
  const stuck = await run(steps, [], { runRollback: () => Promise.reject(failed) });

  expect(rolledBack.ending).toMatchObject({ state: 'failed', sent: true });
  expect(rolledBack.ending.lines.at(-1)).toBe('shop has old.pem, as before.');
  expect(stuck.ending.lines.at(-1)).toBe('The rollback failed: It failed. As it happens. Look at shop.');
});

it('the steps of a change stop once nobody waits for them, and a waiting step ends', async () => {
  const caller = new AbortController();
  const leaving: Step = {
    title: 'Wait',
    run() {
      caller.abort();
      return Promise.reject(new DOMException('stop', 'AbortError'));
    },
  };

  const during = await run([changing('a'), leaving, changing('b')], [], { signal: caller.signal });
  const before = await run([changing('a')], [], { signal: caller.signal });

  expect(during.calls).toBe(1);
  expect(during.ending).toMatchObject({ state: 'failed', code: 'caller_left', sent: true });
  expect(during.ending.lines.slice(1, 4)).toEqual([
    expect.stringMatching(/^✗ 2\. Wait: .*The caller left during this step\./),
    'Done: 1. Change a.',
    'Not done: 3. Change b.',
  ]);
  expect([before.calls, before.ending.code, before.ending.sent]).toEqual([0, 'caller_left', false]);
});

it('the steps of a change never send a call that is not in the plan', async () => {
  const step: Step = { ...changing('a'), run: (send) => send({ ...write }).then(() => '') };

  await expect(run([step])).rejects.toThrow('broken promise');
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

it.each(failures)(
  'a call that failed with %s (%s), sent: %s, is judged %s, with how to undo it',
  async (...failure) => {
    const [code, status, isSent, state] = failure;
    const error = new AdminError('It failed', { detail: 'As it happens.', remedy: '', code, status });
    let sent = 0;

    const { ending, calls } = await run([changing('a'), changing('b'), changing('c')], [undefined, error], {
      leaves: () => (sent += 1) === 1 || isSent,
    });

    expect(calls).toBe(2);
    expect(ending).toEqual({
      state,
      lines: [
        '✓ 1. a is changed.',
        '✗ 2. Change b: It failed. As it happens.',
        'Done: 1. Change a.',
        'Not done: 3. Change c.',
        ...(state === 'uncertain' ? ['If step 2 was carried out nevertheless, undo it with: put b back'] : []),
        'To go back: put a back',
      ],
      code: code ?? null,
      sent: true,
    });
  },
);

it('a step that failed after its call was executed says how to undo it', async () => {
  const step = {
    title: 'Restart shop',
    write,
    undoCommand: 'start it',
    async run(send: (write: Write) => Promise<void>) {
      await send(this.write);
      throw new AdminError('It is down', { detail: 'It does not start.', remedy: '' });
    },
  };

  const { ending } = await run([step]);

  expect(ending).toMatchObject({
    state: 'failed',
    sent: true,
    lines: [expect.anything(), 'Done: 1. Restart shop.', 'To go back: start it'],
  });
});

it.each([
  ['ran at once', 'started', 'alice', { isApproved: false, approvedBy: undefined }],
  ['another person approved', 'approved', 'bob', { isApproved: true, approvedBy: 'bob' }],
  ['its own person approved', 'approved', 'alice', { isApproved: true, approvedBy: undefined }],
] as const)(
  'the calls of a change that %s are checked against its plan, and name its approver',
  (_, what, by, approval) => {
    const decision = { by, what, reason: null, at: '2026-11-24T01:10:00.000Z' };
    const plan = { facts: [], steps: [] };

    const held = permitFor(givenChange({ decision }), {
      plan,
      reads: { cache: new Map(), writeCount: 0, atSteadyMs: 0 },
    });

    expect(held).toMatchObject({ requestedBy: 'alice', ...approval });
  },
);

describe('the records of a stopped exporter', () => {
  const call = (operation: string, url: string) => ({
    title: operation,
    call: { operation, risk: 'reversible', method: 'PUT', url: `https://lb/api${url}`, body: null },
    findings: [],
    because: [],
    current: null,
  });
  const attach = ['addFarmCertificate', '/farms/shop/certificates'] as const;
  const restart = ['actOnFarm', '/farms/shop/actions'] as const;

  /** Returns the ending that they give a plan of which these calls were sent and answered. */
  function endingAfter(
    planned: readonly (readonly [string, string])[],
    sent: readonly (readonly [string, string])[],
    status = 200,
  ) {
    const plan = { facts: [], steps: planned.map(([operation, path]) => call(operation, path)) };
    const records = [
      { event: 'change', state: 'executing' },
      ...sent.flatMap(([operation, path]) => {
        const method = operation.startsWith('read') ? 'GET' : 'PUT';
        return [
          { event: 'intent', operation, path, method },
          { event: 'outcome', operation, path, method, status },
        ];
      }),
    ].map((record, seq) => ({ ...record, seq }));
    // The journal gives the newest first.
    return endingOf('executing', plan, records.toReversed() as unknown as readonly AuditLine[]);
  }

  it.each([
    [200, 'done', '✓ 1 of 1 calls were carried out; the exporter was stopped before it looked at the result.'],
    [
      500,
      'uncertain',
      '✗ The exporter was stopped during a call, which may have been carried out. Look at the object.',
    ],
    [400, 'failed', '✗ 0 of 1 calls were carried out, and then the exporter was stopped.'],
  ])('show the outcome of a call that was answered with %i', (status, state, line) => {
    expect(endingAfter([restart], [restart], status)).toEqual({ state, lines: [line], code: null, sent: true });
  });

  it('show that all calls were executed, in the order of the steps', () => {
    expect(endingAfter([attach, restart], [attach, restart])).toMatchObject({
      state: 'done',
      lines: [expect.stringContaining('2 of 2 calls were carried out')],
    });
  });

  it('show a change as done that was stopped after a read of its last step that is audited', () => {
    const drain = ['setFarmBackendMaintenance', '/farms/db/backends/0/maintenance'] as const;

    const ending = endingAfter([drain], [drain, ['readFarmStats', '/stats/farms/db']]);

    expect(ending).toMatchObject({ state: 'done', lines: [expect.stringContaining('1 of 1 calls were carried out')] });
  });

  it('distinguish a rollback call from one of the steps', () => {
    expect(endingAfter([attach, restart], [attach, attach])).toMatchObject({
      state: 'failed',
      lines: [expect.stringContaining('while it was taken back')],
    });
  });
});
