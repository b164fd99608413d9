import type { ChangeDryRun, ChangeEvent, ShownChange } from '../../admin/changes/change.ts';
import { planLines } from '../../admin/changes/plan-lines.ts';
import type { Recipe } from '../../admin/recipes/recipe.ts';
import { oneLine } from '../../lib/text.ts';
import { parseDuration } from '../../lib/time.ts';
import { UsageError } from '../command.ts';
import { stateLine, stepLines, linesWithNextCommands } from './change-lines.ts';
import { askFlags, askForChange, waitsExitCode } from './change-commands.ts';
import { readText } from './content.ts';
import { printLines } from './render.ts';
import { type ChangeBody, requestPlan, runNow } from './run-change.ts';
import { type AdminCommand, type AdminSession, askAgreement } from './session.ts';
import { namedValues } from './words.ts';

export const recipeFlags: AdminCommand['flags'] = [
  'reason',
  'dry-run',
  'force',
  'break-glass',
  'yes',
  'wait',
  'backup-first',
  'detach',
];
export const askRecipeFlags: AdminCommand['flags'] = [...askFlags, 'wait', 'backup-first'];

/**
 * Lets the gateway plan a recipe, shows the plan, asks, and lets it run. Resolves to the exit code:
 * 1 when refused or failed, 2 when nobody agreed, 3 when it waits for approval.
 */
export async function runRecipe(
  recipe: Recipe,
  appliance: string,
  words: readonly string[],
  session: AdminSession,
): Promise<number> {
  const { flags } = session;
  if (flags.ask && recipe.files)
    throw new UsageError(`${recipe.name} takes a file, which is not kept until somebody approves it; leave --ask out`);
  if (flags.reason === undefined && !flags['dry-run'])
    throw new UsageError('a change needs a reason, for the audit: --reason=TEXT');
  const body = await changeBodyFor(recipe, { appliance, words }, session);
  if (flags.ask) {
    await askForChange(body, session);
    return 0;
  }
  const head = [`${recipe.name} on ${oneLine(appliance, 64)}: ${recipe.about}`, ''];
  if (flags['dry-run']) return showDryRun(await requestPlan(body, session), head, session);
  if (!flags.yes) return await confirmAndRun(body, head, session);
  return await run(body, session, ({ plan }) => [...head, ...printableLines(planLines(plan)), '']);
}

async function changeBodyFor(
  recipe: Recipe,
  { appliance, words }: { readonly appliance: string; readonly words: readonly string[] },
  session: AdminSession,
): Promise<ChangeBody> {
  const { flags } = session;
  const ofFiles = recipe.files ?? {};
  const given = Object.entries(namedValues(words));
  const paths = given.filter(([name]) => Object.hasOwn(ofFiles, name));
  const files = await readFiles(recipe, Object.fromEntries(paths), session);
  return {
    appliance,
    recipe: recipe.name,
    parameters: Object.fromEntries(given.filter((each) => !paths.includes(each))),
    ...(paths.length > 0 && { files }),
    reason: flags.reason,
    ...(flags.force && { force: true }),
    ...(flags['break-glass'] && { break_glass: true }),
    ...(flags['backup-first'] && { backup_first: true }),
    ...waitSecondsFor(session),
  };
}

/** Returns the member of a change for `--wait`: the longest wait of a step. */
export function waitSecondsFor({ flags: { wait } }: Pick<AdminSession, 'flags'>): Pick<ChangeBody, 'wait_seconds'> {
  const ms = wait === undefined ? undefined : parseDuration(wait);
  return ms === undefined ? {} : { wait_seconds: Math.max(1, Math.ceil(ms / 1_000)) };
}

export function withoutKeys(text: string): string {
  return text.replaceAll(privateKeys, '');
}

const privateKeys = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----\r?\n?/g;

/** Reads the files of a recipe; a private key that the recipe does not need is not sent. */
async function readFiles(
  { files = {} }: Pick<Recipe, 'files'>,
  paths: Readonly<Record<string, string>>,
  { printOut }: Pick<AdminSession, 'printOut'>,
): Promise<Readonly<Record<string, string>>> {
  const texts: [string, string][] = [];
  for (const [name, path] of Object.entries(paths)) {
    const text = await readText(path, name);
    const shown = files[name]?.sendsKey ? text : withoutKeys(text);
    if (shown !== text) printOut(`The private key in ${oneLine(path, 200)} stays here.`);
    texts.push([name, shown]);
  }
  return Object.fromEntries(texts);
}

function showDryRun({ plan, lines, would }: ChangeDryRun, head: readonly string[], session: AdminSession): number {
  printLines(
    [...head, ...printableLines(lines), ...plan.steps.flatMap(stepLines), '', 'Dry run: nothing was changed.'],
    session,
  );
  return would === 'be refused' ? 1 : 0;
}

function printableLines(lines: readonly string[]): readonly string[] {
  return lines.map((line) => oneLine(line, 3_000));
}

/** Prints the plan, asks for agreement, and runs exactly that plan. */
async function confirmAndRun(body: ChangeBody, head: readonly string[], session: AdminSession): Promise<number> {
  const { lines, would, digest, asked_at } = await requestPlan(body, session);
  printLines([...head, ...printableLines(lines)], session);
  if (would === 'be refused') {
    session.printErr('Nothing was done: the gateway refuses what is marked with ✗. --force overrides guards only.');
    return 1;
  }
  if (!(await askAgreement(`${body.recipe} on ${body.appliance}`, session))) return 2;
  return await run({ ...body, digest, asked_at }, session, () => ['']);
}

/**
 * Lets a change run, and prints what its steps do, after what `intro` says of it. Resolves to the
 * exit code.
 */
async function run(
  body: ChangeBody,
  session: AdminSession,
  intro: (change: ShownChange) => readonly string[] = () => [],
): Promise<number> {
  const { flags, printOut, printErr } = session;
  const printEvent = (event: ChangeEvent): void => {
    if (event.event === 'started') printLines(intro(event.change), session);
    if (event.event === 'wait') printOut(`  … ${oneLine(event.line, 500)}`);
    if (event.event === 'end') (event.ok ? printOut : printErr)(oneLine(event.line, 3_000));
  };
  const { change, unreported } = await runNow(flags.detach ? { ...body, detach: true } : body, session, printEvent);
  for (const line of unreported) printErr(oneLine(line, 3_000));
  return exitCodeOf(change, session);
}

function exitCodeOf(change: ShownChange, session: AdminSession): number {
  const { state, id } = change;
  if (state === 'done') return 0;
  if (state === 'pending') {
    printLines(linesWithNextCommands(change), session);
    return waitsExitCode;
  }
  if (session.flags.detach) {
    printLines([stateLine(change), `  zlb-exporter admin changes show ${oneLine(id, 64)}`], session);
    return 0;
  }
  session.printErr(stateLine(change));
  return 1;
}
