import { describe, expect, it } from 'vitest';
import { AdminError } from '../../../../src/admin/policy/admin-error.ts';
import type { Write } from '../../../../src/admin/recipes/calls.ts';
import { callStep, type Step } from '../../../../src/admin/recipes/recipe.ts';
import { runSteps } from '../../../../src/commands/admin/run-recipe.ts';

const write: Write = { key: 'createBackup', params: {} };
const refused = new AdminError('lb-1 answered 400', { detail: 'No.', remedy: '', status: 400 });
const unanswered = new AdminError('https://gateway gave no answer', { detail: 'Cut.', remedy: '' });

function changing(name: string): Step {
  return callStep({ title: `Change ${name}`, write, done: `${name} is changed.`, undo: `put ${name} back` });
}

function looking(name: string, error?: Error): Step {
  return {
    title: `Look at ${name}`,
    async run() {
      if (error) throw error;
      return `${name} is fine.`;
    },
  };
}

async function run(steps: readonly Step[], answers: readonly (Error | undefined)[] = []) {
  const said: string[] = [];
  const warned: string[] = [];
  const left = [...answers];
  const over = await runSteps(
    steps,
    async () => {
      const answer = left.shift();
      if (answer) throw answer;
    },
    { say: (line) => said.push(line), warn: (line) => warned.push(line) },
  ).catch((error: unknown) => error);
  return { said, warned, over };
}

describe('the steps of a recipe', () => {
  it('are printed one by one', async () => {
    const { said, warned, over } = await run([changing('a'), looking('a\u001b[2J')]);

    expect(said).toEqual(['✓ 1. a is changed.', '✓ 2. a [2J is fine.']);
    expect(warned).toEqual([]);
    expect(over).toBeUndefined();
  });

  it('stop at a failure and print what was done, what was not, and how to undo it, newest first', async () => {
    const { said, warned, over } = await run([changing('a'), changing('b'), looking('b', refused), looking('c')]);

    expect(over).toBe(refused);
    expect(said).toEqual(['✓ 1. a is changed.', '✓ 2. b is changed.', '✗ 3. Look at b']);
    expect(warned).toEqual([
      'Done: 1. Change a; 2. Change b.',
      'Not done: 4. Look at c.',
      'To go back:',
      '  put b back',
      '  put a back',
    ]);
  });

  it('say that nothing was changed when the first call is refused', async () => {
    const { warned } = await run([looking('x'), changing('a'), looking('a')], [refused]);

    expect(warned).toEqual(['Nothing was changed before that.', 'Not done: 3. Look at a.']);
  });

  it.each([[unanswered], [new AdminError('lb-1 answered 502', { detail: '', remedy: '', status: 502 })]])(
    'say how to undo a call that may have been carried out (%s)',
    async (error) => {
      const { warned } = await run([changing('a'), changing('b')], [undefined, error]);

      expect(warned).toEqual([
        'Done: 1. Change a.',
        'If step 2 was carried out nevertheless, undo it with: put b back',
        'To go back:',
        '  put a back',
      ]);
    },
  );

  it('print the same after an interrupt', async () => {
    const { warned } = await run([changing('a'), looking('a', new DOMException('stop', 'AbortError'))]);

    expect(warned).toEqual(['Done: 1. Change a.', 'To go back:', '  put a back']);
  });
});
