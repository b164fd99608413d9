import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import type { GivenOptions } from '../../support/given-gateway.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const approver = { token: 'the-token-of-bob', name: 'bob', person: 'bob', role: 'admin', approver: true } as const;
const breaker = { token: 'the-token-of-eve', name: 'eve', person: 'eve', role: 'admin', breakGlass: true } as const;
const restart = ['admin', 'lb-1', 'restart-farm', 'farm=payments'];
const asking = [...restart, '--ask', '--reason=TICKET-42'];
const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--reason=TICKET-42'];

/** A gateway with a second person, who approves. */
async function given(approvals: GivenOptions['approvals'] = {}) {
  const cli = await givenAdminCli({ 'lb-1': busyWorld() }, { tokens: [approver, breaker], approvals });
  return {
    ...cli,
    /** Asks for the restart of a farm; returns the id of the change. */
    ask: async (words: readonly string[] = asking) => {
      const { bytes } = await cli.run([...words, '--json']);
      return (JSON.parse(bytes.toString()) as { readonly id: string }).id;
    },
    decide: (words: readonly string[], typed: Parameters<typeof cli.run>[1] = {}) =>
      cli.run(['admin', 'changes', ...words], { as: approver.token, ...typed }),
    digestOf: async (id: string) => (await cli.call('GET', `/changes/${id}`)).json?.digest as string,
  };
}

describe('a requested change', () => {
  it('waits for approval, and its plan shows every exact call', async () => {
    const { run, done, session } = await given();

    const { code } = await run(asking);

    expect(code).toBe(0);
    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('is executed once a second person has read and approved the plan', async () => {
    const { ask, decide, run, done, session } = await given();
    const id = await ask();

    const own = await run(['admin', 'changes', 'approve', id], { answers: ['y'] });
    const refused = await decide(['approve', id], { answers: ['n'] });
    const { code } = await decide(['approve', id, '--reason=fine', '--watch'], { answers: ['y'] });
    const audit = await run(['admin', 'audit', '--event=change']);

    expect(own).toMatchObject({ code: 1, asked: [] });
    expect([refused.code, code]).toEqual([2, 0]);
    expect(await done()).toEqual(['actOnFarm']);
    const states = [...audit.out.matchAll(/ restart-farm +(\w+)/g)].map(([, state]) => state);
    expect(states).toEqual(['done', 'executing', 'approved', 'pending']);
    expect(session()).toMatchSnapshot();
  });

  it('is approved by a script only with the digest of the plan that a person read', async () => {
    const { ask, decide, digestOf, done, session } = await given();
    const id = await ask();
    const digest = await digestOf(id);

    const silent = await decide(['approve', id]);
    const blind = await decide(['approve', id, '--yes']);
    const before = await done();
    const right = await decide(['approve', id, '--yes', `--digest=${digest}`, '--watch', '--json']);

    expect(silent).toMatchObject({ code: 2, err: expect.stringContaining(digest) });
    expect(blind.code).toBe(2);
    expect(before).toEqual([]);
    expect(right.code).toBe(0);
    expect(JSON.parse(right.bytes.toString())).toMatchObject({ id, state: 'done' });
    expect(session()).toMatchSnapshot();
  });

  it('exits with 1 when it fails, and says what happened', async () => {
    const { ask, decide, appliance, session } = await given();
    const id = await ask();
    const payments = appliance.world.farms.get('payments');
    if (payments?.profile === 'http') payments.configError = 'There is no such cipher.';

    const { code } = await decide(['approve', id, '--watch'], { answers: ['y'] });

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });

  it('can be denied with a reason, or withdrawn', async () => {
    const { ask, decide, run, done, session } = await given();
    const [one, other] = [await ask(), await ask()];

    const unexplained = await decide(['deny', one]);
    const denied = await decide(['deny', one, '--reason=not tonight']);
    const cancelled = await run(['admin', 'changes', 'cancel', other]);
    const again = await decide(['approve', one], { answers: ['y'] });
    await run(['admin', 'changes', 'show', one]);

    expect([unexplained.code, denied.code, cancelled.code]).toEqual([2, 0, 0]);
    expect(again).toMatchObject({ code: 1, asked: [] });
    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('is listed while it is open, and by its state afterwards', async () => {
    const { ask, decide, run, session } = await given();
    const [denied, waiting] = [await ask(), await ask()];
    await decide(['deny', denied, '--reason=no']);

    const open = await run(['admin', 'changes']);
    const some = await run(['admin', 'changes', 'list', '--state=denied,expired']);
    const all = await run(['admin', 'changes', 'list', '--state=all', '--json']);
    await run(['admin', 'changes', '--state=failed']);
    const wrong = await run(['admin', 'changes', '--state=maybe']);

    expect(open.out.match(/ch-\w+/g)).toEqual([waiting]);
    expect(some.out.match(/ch-\w+/g)).toEqual([denied]);
    expect(JSON.parse(all.bytes.toString()).changes).toHaveLength(2);
    expect(wrong.code).toBe(1);
    expect(session()).toMatchSnapshot();
  });
});

describe('a change that needs approval by policy', () => {
  it('says in its first line that nothing was sent, and exits with 3', async () => {
    const { run, done, session } = await given({ requiredFor: ['reversible'] });

    const people = await run([...stop, '--yes']);
    const scripts = await run([...stop, '--yes', '--json']);

    expect([people.code, scripts.code]).toEqual([3, 3]);
    expect(JSON.parse(scripts.bytes.toString())).toMatchObject({ state: 'pending', operation: 'actOnFarm' });
    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('is sent at once with --break-glass, when the token allows it', async () => {
    const { run, done, session } = await given({ requiredFor: ['reversible'] });
    const emergency = [...stop, '--yes', '--break-glass'];

    const refused = await run(emergency);
    const sent = await run(emergency, { as: breaker.token });

    expect([refused.code, sent.code]).toEqual([1, 0]);
    expect(await done()).toEqual(['actOnFarm']);
    expect(session()).toMatchSnapshot();
  });

  it('is announced by a dry run; a recipe with one such step waits as a whole', async () => {
    const { run, changes, session } = await given({ requiredFor: ['reversible'] });

    await run([...stop, '--dry-run']);
    const recipe = await run([...restart, '--reason=x', '--yes']);
    const forced = await run([...restart, '--reason=x', '--dry-run', '--break-glass'], { as: breaker.token });
    const { out: waiting } = await run(['admin', 'changes']);

    expect([recipe.code, forced.code]).toEqual([3, 0]);
    expect(waiting).toMatch(/ pending +lb-1 +restart-farm farm=payments /);
    expect(changes().filter((each) => !each.startsWith('PUT'))).toEqual([]);
    expect(session()).toMatchSnapshot();
  });
});
