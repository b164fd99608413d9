import type { RecipeContext } from '../../../../src/admin/recipes/recipe.ts';

const unanswered = () => Promise.reject(new Error('the test has no answer to this call'));

type Known = Partial<Omit<RecipeContext, 'calls'>> & { readonly calls?: Partial<RecipeContext['calls']> };

/** A context for recipes on `lb-1`; no time passes, and calls without an answer here fail. */
export function givenRecipe({ calls, ...known }: Known): RecipeContext {
  return {
    calls: {
      appliance: 'lb-1',
      read: unanswered,
      readText: unanswered,
      dryRun: unanswered,
      parametersOf: unanswered,
      ...calls,
    },
    params: {},
    files: {},
    knownFarms: () => undefined,
    vipLimits: undefined,
    probesAllFarms: false,
    signal: new AbortController().signal,
    waitMs: 0,
    now: () => 0,
    steadyNow: () => 0,
    askedAtMs: 0,
    sleep: () => Promise.resolve(),
    progress: () => undefined,
    ...known,
  };
}
