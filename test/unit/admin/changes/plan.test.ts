import { expect, it } from 'vitest';
import type { DryRun } from '../../../../src/admin/calls/dry-run.ts';
import type { RecipeCalls } from '../../../../src/admin/recipes/calls.ts';
import { callStep, type Recipe } from '../../../../src/admin/recipes/recipe.ts';
import { makePlan } from '../../../../src/admin/changes/plan.ts';
import { givenRecipe } from '../recipes/given-recipe.ts';

const dryRun: DryRun = {
  dry_run: true,
  operation: 'updateFarm',
  risk: 'reversible',
  would: 'be sent',
  because: [],
  request: { method: 'PUT', url: 'https://lb/', headers: {}, body: 'hidden' },
  findings: [],
  validation: { checked: true, problems: [] },
  confirmation: { required: false, expected: [], given: false },
  current: null,
};

const write = { operationId: 'updateFarm', params: { farmname: 'shop' } } as const;

/** The differences from a plan of one call with a body. */
interface Differences {
  readonly bytes?: string;
  readonly type?: string;
  readonly digestKey?: string;
  readonly force?: boolean;
  /** The present state of the object. */
  readonly object?: string | number;
  readonly recipe?: Recipe;
  readonly onDryRun?: () => void;
}

/** Prepares a change, as the other approver would get it. */
function planOf(differences: Differences = {}) {
  const { bytes = 'one', type = 'application/json', digestKey = 'key', force = false, object = 'up' } = differences;
  const { recipe, onDryRun } = differences;
  const calls = {
    appliance: 'lb-1',
    dryRun() {
      onDryRun?.();
      return Promise.resolve({ ...dryRun, current: { operation: 'readFarm', status: 200, body: { text: object } } });
    },
  } as unknown as RecipeCalls;
  const context = { ...givenRecipe({}), calls };
  const content = { type, bytes: Buffer.from(bytes) };
  const call = { ...write, content };
  return makePlan({ task: recipe ? { recipe, params: {} } : call, force, digestKey }, context);
}

it.each<readonly [string, Differences]>([
  ['another body that is shown in the same way', { bytes: 'two' }],
  ['the body under another key', { digestKey: 'other' }],
  ['another content type', { type: 'text/plain' }],
  ['guards overridden', { force: true }],
  ['another object', { object: 'down' }],
])('the digest of a plan differs for %s, and is otherwise the same', async (_, other) => {
  const { digest } = await planOf();

  expect((await planOf()).digest).toBe(digest);
  expect((await planOf(other)).digest).not.toBe(digest);
});

it('the digest of a plan is the same for a number and its text, because guards read numbers', async () => {
  expect((await planOf({ object: '8083' })).digest).toBe((await planOf({ object: 8083 })).digest);
});

it('the digest of a plan also covers what is omitted from a large object', async () => {
  const large = 'a'.repeat(100_000);
  const one = await planOf({ object: `${large}1` });
  const other = await planOf({ object: `${large}2` });

  expect(one.plan.steps[0]?.current?.body).toMatch(/^Left out/);
  expect(other.digest).not.toBe(one.digest);
});

it('a plan that becomes too long is refused, and nothing more is read for it', async () => {
  const steps = Array.from({ length: 100 }, (_, at) => callStep({ title: `Step ${at}`, write, done: '' }));
  const recipe = { name: 'long', about: '', parameters: {}, plan: () => Promise.resolve({ facts: [], steps }) };
  let dryRuns = 0;
  const onDryRun = () => void (dryRuns += 1);

  const planned = planOf({ recipe, object: 'a'.repeat(60_000), onDryRun });

  await expect(planned).rejects.toMatchObject({ code: 'recipe_refused', message: expect.stringContaining('too long') });
  expect(dryRuns).toBe(5);
});
