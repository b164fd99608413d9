import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const words = ['admin', 'lb-1', 'restart-farm', 'farm=shop'];

describe('the plan of a recipe', () => {
  it('is shown, and nothing else happens without a terminal', async () => {
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, out, err } = await run([...words, '--reason=x']);

    expect(code).toBe(2);
    expect(out).toMatch(
      /\nPlan\n {2}1\. Restart shop\n {5}! restart_may_leave_down: .*\n {2}2\. .*\n {2}3\. Compare before and after$/,
    );
    expect(err).toBe('Nothing was done: no terminal is there to ask for your agreement; repeat it with --yes.');
    expect(await done()).toEqual([]);
  });

  it('is carried out once a person agreed', async () => {
    const { run, audit } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, asked } = await run([...words, '--reason=TICKET-42'], { answers: ['y'] });

    expect(code).toBe(0);
    expect(asked).toEqual(['\nGo on with restart-farm on lb-1? [y/N] ']);
    expect(await audit()).toContainEqual(expect.objectContaining({ event: 'intent', reason: 'TICKET-42' }));
  });

  it('is dropped without a clear yes, and without a reason', async () => {
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    for (const answer of ['n', '', 'yeah no'])
      expect(await run([...words, '--reason=x'], { answers: [answer] })).toMatchObject({
        code: 2,
        err: 'Nothing was done.',
      });
    expect(await run(words, { answers: [' '] })).toMatchObject({
      code: 2,
      err: 'a change needs a reason, for the audit: --reason=TEXT',
    });

    expect(await done()).toEqual([]);
  });

  it('comes with the dry run of each call, and needs no reason and no agreement for that', async () => {
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, out } = await run([...words, '--dry-run', '--backup-first']);

    expect(code).toBe(0);
    expect(out).toMatch(/\n1\. Create the backup \S+\n {2}POST https:\S+\/system\/backup\n {2}\{"name":"pre-change-/);
    expect(out).toMatch(/\n3\. Restart shop\n {2}PUT https:\S+\/farms\/shop\/actions\n {2}\{"action":"restart"\}\n/);
    expect(out).toMatch(/\nDry run: nothing was changed\.$/);
    expect(await done()).toEqual([]);
  });
});
