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

describe('a change that is asked for', () => {
  it('waits, and its plan is shown with every exact call', async () => {
    const { run, done } = await given();

    const { code, out } = await run(asking);

    expect(code).toBe(0);
    expect(out).toMatch(
      /^ch-\w+ waits for approval\. Nothing was sent\.\n\nchange +restart-farm farm=payments on lb-1\n/,
    );
    expect(out).toMatch(/\nreason +TICKET-42\n[^]*\nwaits until +\d{4}-/);
    expect(out).toMatch(/\nstep +operation +risk +plan\n1 +actOnFarm +reversible +Restart payments\n2 +- +- +Wait/);
    expect(out).toMatch(
      /\n1\. Restart payments\n {2}PUT https:\S+\/farms\/payments\/actions\n {2}\{"action":"restart"\}\n/,
    );
    expect(out).toMatch(/\n {2}zlb-exporter admin changes approve ch-\w+ --watch\n/);
    expect(await done()).toEqual([]);
  });

  it('is carried out once a second person has looked at the plan and agreed', async () => {
    const { ask, decide, run, done } = await given();
    const id = await ask();

    const own = await run(['admin', 'changes', 'approve', id], { answers: ['y'] });
    const refused = await decide(['approve', id], { answers: ['n'] });
    const { code, out, asked } = await decide(['approve', id, '--reason=fine', '--watch'], { answers: ['y'] });
    const audit = await run(['admin', 'audit', '--event=change']);

    expect(own).toMatchObject({ code: 1, asked: [], err: expect.stringContaining('may not approve or deny') });
    expect(refused).toMatchObject({ code: 2, err: 'Nothing was done.' });
    expect(asked).toEqual([`\nGo on with the approval of ${id}: restart-farm farm=payments on lb-1? [y/N] `]);
    expect(code).toBe(0);
    expect(out).toMatch(/ is done\.\n\nOutcome at .*\n {2}✓ 1\. payments was restarted\.\n {2}✓ 2\. /);
    expect(await done()).toEqual(['actOnFarm']);
    const states = [...audit.out.matchAll(/ restart-farm +(\w+)/g)].map(([, state]) => state);
    expect(states).toEqual(['done', 'executing', 'approved', 'pending']);
  });

  it('is approved by a script only with the digest of the plan that somebody looked at', async () => {
    const { ask, decide, digestOf, done } = await given();
    const id = await ask();
    const digest = await digestOf(id);

    const silent = await decide(['approve', id]);
    const blind = await decide(['approve', id, '--yes']);
    const before = await done();
    const right = await decide(['approve', id, '--yes', `--digest=${digest}`, '--watch', '--json']);

    expect(silent).toMatchObject({ code: 2, err: expect.stringContaining(`--digest=${digest} --yes.`) });
    expect(blind).toMatchObject({ code: 2, err: expect.stringContaining('--yes needs --digest=HEX') });
    expect(before).toEqual([]);
    expect(right.code).toBe(0);
    expect(JSON.parse(right.bytes.toString())).toMatchObject({ id, state: 'done' });
  });

  it('that fails ends with 1, and says what happened', async () => {
    const { ask, decide, appliance } = await given();
    const id = await ask();
    const payments = appliance.world.farms.get('payments');
    if (payments?.profile === 'http') payments.configError = 'There is no such cipher.';

    const { code, out } = await decide(['approve', id, '--watch'], { answers: ['y'] });

    expect(code).toBe(1);
    expect(out).toMatch(/ has failed\.\n\nOutcome at .*\n {2}✗ 1\. Restart payments: .*There is no such cipher\./);
  });

  it('is denied with a reason, or taken back', async () => {
    const { ask, decide, run, done } = await given();
    const [one, other] = [await ask(), await ask()];

    const unexplained = await decide(['deny', one]);
    const denied = await decide(['deny', one, '--reason=not tonight']);
    const cancelled = await run(['admin', 'changes', 'cancel', other]);
    const again = await decide(['approve', one], { answers: ['y'] });
    const shown = await run(['admin', 'changes', 'show', one]);

    expect(unexplained.code).toBe(2);
    expect(denied).toMatchObject({ code: 0, out: `${one} is denied. Nothing was sent.` });
    expect(cancelled).toMatchObject({ code: 0, out: `${other} is cancelled. Nothing was sent.` });
    expect(again).toMatchObject({ code: 1, asked: [] });
    expect(shown.out).toMatch(/\ndenied +by bob at \S+: not tonight\n/);
    expect(await done()).toEqual([]);
  });

  it('is listed while it is open, and later by its state', async () => {
    const { ask, decide, run } = await given();
    const [denied, waiting] = [await ask(), await ask()];
    await decide(['deny', denied, '--reason=no']);

    const open = await run(['admin', 'changes']);
    const some = await run(['admin', 'changes', 'list', '--state=denied,expired']);
    const all = await run(['admin', 'changes', 'list', '--state=all', '--json']);
    const none = await run(['admin', 'changes', '--state=failed']);
    const wrong = await run(['admin', 'changes', '--state=maybe']);

    expect(open.out).toMatch(/^id +state +appliance +change +asked by/);
    expect(open.out).toMatch(
      new RegExp(String.raw`\n${waiting} +pending +lb-1 +restart-farm farm=payments +admin .*TICKET-42$`),
    );
    expect(some.out).toMatch(new RegExp(String.raw`\n${denied} +denied +lb-1 `));
    expect(JSON.parse(all.bytes.toString()).changes).toHaveLength(2);
    expect(none.out).toBe('No changes fit; --state=all shows those too that have ended.');
    expect(wrong.code).toBe(1);
  });
});

describe('a change that the policy lets wait', () => {
  it('says in its first line that nothing was sent, and ends with 3', async () => {
    const { run, done } = await given({ requiredFor: ['reversible'] });

    const people = await run([...stop, '--yes']);
    const scripts = await run([...stop, '--yes', '--json']);

    expect(people.code).toBe(3);
    expect(people.out).toMatch(/^ch-\w+ waits for approval\. Nothing was sent\.\n/);
    expect(scripts.code).toBe(3);
    expect(JSON.parse(scripts.bytes.toString())).toMatchObject({ state: 'pending', operation: 'actOnFarm' });
    expect(await done()).toEqual([]);
  });

  it('is sent at once in an emergency, by a token that may do so', async () => {
    const { run, done } = await given({ requiredFor: ['reversible'] });
    const emergency = [...stop, '--yes', '--break-glass'];

    const refused = await run(emergency);
    const sent = await run(emergency, { as: breaker.token });

    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('has no break_glass') });
    expect(sent.code).toBe(0);
    expect(await done()).toEqual(['actOnFarm']);
  });

  it('is announced by a dry run, and a recipe with such a step waits as a whole', async () => {
    const { run, changes } = await given({ requiredFor: ['reversible'] });

    const dry = await run([...stop, '--dry-run']);
    const recipe = await run([...restart, '--reason=x', '--yes']);
    const forced = await run([...restart, '--reason=x', '--dry-run', '--break-glass'], { as: breaker.token });
    const { out: waiting } = await run(['admin', 'changes']);

    expect(dry.out).toMatch(/^Dry run of actOnFarm \(reversible\): it would wait for approval\.\n/);
    expect(recipe).toMatchObject({
      code: 3,
      out: expect.stringMatching(
        /^ch-\w+ waits for approval\. Nothing was sent\.\n[^]*restart-farm farm=payments on lb-1/,
      ),
    });
    expect(forced).toMatchObject({ code: 0, out: expect.not.stringContaining('it needs approval') });
    expect(waiting).toMatch(/ pending +lb-1 +restart-farm farm=payments /);
    expect(changes().filter((each) => !each.startsWith('PUT'))).toEqual([]);
  });
});
