import { parseDuration } from '../../lib/time.ts';
import { oneLine } from '../../lib/text.ts';
import { UsageError } from '../usage-error.ts';
import { type AdminCommand, type AdminSession, callsTo, isAbort, isAgreed, optionsOf } from './session.ts';
import { namedValues } from './words.ts';
import type { DryRunPlan } from '../../admin/calls/dry-run.ts';
import type { CallOptions, Calls, Write } from '../../admin/recipes/calls.ts';
import { objectionLines, dryRunLines } from './dry-run-lines.ts';
import { backupSteps } from '../../admin/recipes/backup.ts';
import type { Recipe, RecipeContext, Step } from '../../admin/recipes/recipe.ts';
import { askForChange } from './changes.ts';
import { changeRecipes } from '../../admin/recipes/recipes.ts';
import { sendLogs } from '../../admin/recipes/send-logs.ts';
import { perhapsBack, runSteps as runAllSteps, type StepFailure, waysBack } from '../../admin/recipes/run-steps.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import { installActivation } from './certificates/install-activation.ts';
import { replaceCertificate } from './certificates/replace-certificate.ts';

/** All recipes of the command line. */
export const recipes: readonly Recipe[] = [...changeRecipes, replaceCertificate, installActivation, sendLogs];

/** Flags that recipes take. */
export const recipeFlags: AdminCommand['flags'] = [
  'reason',
  'dry-run',
  'force',
  'break-glass',
  'yes',
  'wait',
  'backup-first',
];

/** A context whose calls can also change something. */
export type WritingContext = RecipeContext & { readonly calls: Calls };

/** Returns the context of a recipe. */
export function recipeContext(
  appliance: string,
  values: RecipeContext['values'],
  session: AdminSession,
): WritingContext {
  const { flags, now, steadyNow, sleep, say } = session;
  const waitMs = flags.wait === undefined ? undefined : parseDuration(flags.wait);
  const progress = (line: string): void => say(`  … ${oneLine(line, 500)}`);
  return { calls: callsTo(appliance, session), values, waitMs, now, steadyNow, sleep, progress };
}

/** A step with the gateway's dry run of its call. */
interface TriedStep {
  readonly step: Step;
  readonly dryRun: DryRunPlan | undefined;
}

/**
 * Shows the plan of a recipe, asks, and runs the steps. Resolves to the exit code: 1 when refused,
 * 2 when nobody agreed.
 */
export async function runRecipe(
  recipe: Recipe,
  appliance: string,
  words: readonly string[],
  session: AdminSession,
): Promise<number> {
  const { flags, say, warn } = session;
  const values = namedValues(words, recipe);
  if (flags.ask) return await ask(recipe, { appliance, values }, session);
  const context = recipeContext(appliance, values, session);
  const { calls } = context;
  const isDryRun = flags['dry-run'] === true;
  const options = optionsOf(flags, await reasonFor(session, isDryRun));
  const backup = flags['backup-first'] ? await backupSteps(context) : [];
  const plan = await recipe.plan(context);
  const steps = [...backup, ...plan.steps];
  const tried = await dryRunSteps(steps, calls, options);

  say(`${recipe.name} on ${oneLine(appliance, 64)}: ${recipe.about}`);
  for (const line of ['', ...planLines(plan.facts, tried, isDryRun)]) say(line);
  if (isDryRun) {
    for (const line of tried.flatMap(({ dryRun }) => (dryRun ? ['', ...dryRunLines(inSequence(dryRun))] : [])))
      say(line);
    say('\nDry run: nothing was changed.');
    return isAny('be refused', tried) ? 1 : 0;
  }
  const obstacle = obstacleTo(recipe, tried);
  if (obstacle !== undefined) {
    warn(`Nothing was done: ${obstacle}`);
    return 1;
  }
  if (!(await isAgreed(`${recipe.name} on ${appliance}`, session))) return 2;
  say('');
  await runSteps(steps, (write) => calls.write(write, options), session);
  return 0;
}

function isAny(would: string, tried: readonly TriedStep[]): boolean {
  return tried.some(({ dryRun }) => dryRun?.would === would);
}

/** Returns why the steps cannot be begun, and what to do instead. */
function obstacleTo(recipe: Recipe, tried: readonly TriedStep[]): string | undefined {
  if (isAny('be refused', tried)) return 'the gateway refuses what is marked with ✗. --force overrides guards only.';
  if (!isAny('wait for approval', tried)) return undefined;
  const instead = changeRecipes.includes(recipe)
    ? 'Ask for all of it with --ask'
    : 'Call its operations one by one, which asks for each';
  return `it needs approval. ${instead}; --break-glass sends it at once, if your token may do so.`;
}

/** Asks for a recipe instead of running it. Resolves to the exit code. */
async function ask(
  recipe: Recipe,
  { appliance, values }: { readonly appliance: string; readonly values: Readonly<Record<string, string>> },
  session: AdminSession,
): Promise<number> {
  const { name } = recipe;
  if (!changeRecipes.includes(recipe))
    throw new UsageError(
      `${name} reads a file here, or asks the appliance, and cannot wait for approval; leave --ask out`,
    );
  const change = { appliance, recipe: name, parameters: values, force: session.flags.force === true };
  await askForChange({ ...change, reason: await reasonFor(session, false) }, session);
  return 0;
}

/** Resolves to the steps with the gateway's dry run of each call. */
export async function dryRunSteps(
  steps: readonly Step[],
  calls: Calls,
  options: CallOptions,
): Promise<readonly TriedStep[]> {
  const tried: TriedStep[] = [];
  for (const step of steps) tried.push({ step, dryRun: step.write && (await calls.dryRun(step.write, options)) });
  return tried;
}

/** Removes the appliance's objections to a body: the earlier steps may change what it accepts. */
function inSequence(dryRun: DryRunPlan): DryRunPlan {
  return { ...dryRun, validation: { ...dryRun.validation, problems: [] } };
}

/**
 * Renders the plan, with the gateway's objections below each step, unless a dry run shows them in
 * full elsewhere.
 */
function planLines(facts: readonly string[], tried: readonly TriedStep[], isDryRun: boolean): readonly string[] {
  return [
    ...facts.map((fact) => oneLine(fact, 1_000)),
    '',
    'Plan',
    ...tried.flatMap(({ step: { title }, dryRun }, index) => [
      `  ${index + 1}. ${oneLine(title, 500)}`,
      ...(dryRun && !isDryRun ? objectionLines(dryRun).map((line) => `   ${line}`) : []),
    ]),
  ];
}

/**
 * Asks for the reason before the first call, so that every audit record has it; a dry run needs
 * none.
 */
async function reasonFor({ flags, shell }: AdminSession, isDryRun: boolean): Promise<string | undefined> {
  const given = flags.reason;
  if (given !== undefined || isDryRun) return given;
  const typed = shell.ask ? (await shell.ask('Reason, for the audit: ')).trim() : '';
  if (typed !== '') return typed;
  if (shell.ask || [flags.yes, flags.force, flags['break-glass']].includes(true))
    throw new UsageError('a recipe needs a reason for the audit: --reason=TEXT');
  return undefined;
}

/** Runs steps. After a failed one, prints what is done, what is not, and how to go back. */
export async function runSteps(
  steps: readonly Step[],
  send: (write: Write) => Promise<void>,
  { say, warn }: Pick<AdminSession, 'say' | 'warn'>,
): Promise<void> {
  const failure = await runAllSteps(steps, {
    send,
    onDone: (sentence, index) => say(`✓ ${index + 1}. ${oneLine(sentence, 2_000)}`),
  });
  if (!failure) return;
  const { index, error } = failure;
  if (!(error instanceof AdminError) && !isAbort(error)) throw error;
  say(`✗ ${index + 1}. ${oneLine(steps[index]?.title ?? '', 500)}`);
  for (const line of failureLines(steps, failure)) warn(line);
  throw error;
}

function failureLines(steps: readonly Step[], failure: StepFailure): readonly string[] {
  const { index, carriedOut } = failure;
  const changed = steps.slice(0, carriedOut === 'yes' ? index + 1 : index).filter(({ write }) => write);
  const after = steps.slice(index + 1);
  const back = waysBack(steps, failure);
  const perhaps = perhapsBack(steps, failure);
  return [
    changed.length === 0 ? 'Nothing was changed before that.' : `Done: ${titles(changed, steps)}.`,
    ...(after.length === 0 ? [] : [`Not done: ${titles(after, steps)}.`]),
    ...(perhaps === undefined ? [] : [oneLine(perhaps, 1_000)]),
    ...(back.length === 0 ? [] : ['To go back:', ...back.map((text) => `  ${oneLine(text, 500)}`)]),
  ];
}

function titles(some: readonly Step[], all: readonly Step[]): string {
  return some.map((step) => `${all.indexOf(step) + 1}. ${oneLine(step.title, 500)}`).join('; ');
}
