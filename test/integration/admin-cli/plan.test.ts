import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const words = ['admin', 'lb-1', 'restart-farm', 'farm=shop'];

describe('the plan of a recipe', () => {
  it('is shown, and nothing is executed without a terminal', async () => {
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run([...words, '--reason=x']);

    expect(code).toBe(2);
    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('is executed once a person agrees', async () => {
    const { run, audit, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run([...words, '--reason=TICKET-42'], { answers: ['y'] });

    expect(code).toBe(0);
    expect(await audit()).toContainEqual(expect.objectContaining({ event: 'intent', reason: 'TICKET-42' }));
    expect(session()).toMatchSnapshot();
  });

  it('is dropped without a clear yes, or without a reason', async () => {
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    for (const answer of ['n', '', 'yeah no'])
      expect((await run([...words, '--reason=x'], { answers: [answer] })).code, answer).toBe(2);
    expect((await run(words, { answers: [' '] })).code).toBe(2);

    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('contains the dry run of each call with --dry-run, and needs no reason and no consent', async () => {
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run([...words, '--dry-run', '--backup-first']);

    expect(code).toBe(0);
    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });
});
