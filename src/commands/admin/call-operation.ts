import { confirmationOf } from '../../admin/calls/confirmation.ts';
import type { OperationCall } from '../../admin/policy/operation.ts';
import { changes } from '../../admin/policy/policy.ts';
import { parseJson } from '../../lib/check.ts';
import { UsageError } from '../usage-error.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import { type AdminCommand, type AdminSession, isAgreed, optionsOf, printAnswer } from './session.ts';
import { readContent, redactor } from './content.ts';
import { type CallOptions, readReply, requestFor } from './gateway-client.ts';
import { createOutputFile, type OutputFile, showAnswer } from './show-answer.ts';
import type { Content } from '../../admin/recipes/calls.ts';
import { type DryRun, DryRunSchema } from '../../admin/calls/dry-run.ts';
import { wouldFail, dryRunLines, warningLines } from './dry-run-lines.ts';
import { type Asking, planOf } from './run-change.ts';
import { run } from './run-recipe.ts';
import { askForChange, showWaiting, waitsCode } from './changes.ts';
import { parseTarget } from './words.ts';

/** Flags that a single operation takes. */
export const operationFlags: AdminCommand['flags'] = [
  'body',
  'output',
  'reason',
  'confirm',
  'dry-run',
  'force',
  'break-glass',
  'json',
  'backup-first',
  'yes',
];

/**
 * Sends one operation to one appliance and shows what comes back, or asks for it. Resolves to the
 * exit code: 1 for the dry run of what would be refused, 2 when nobody agreed to it, 3 when it
 * waits for approval.
 */
export async function callOperation(
  appliance: string,
  words: readonly string[],
  session: AdminSession,
): Promise<number> {
  const { flags, shell } = session;
  const { call, fields } = parseTarget(words, session.operations);
  const path = flags.output;
  refuseContradictions(call, session);
  const content = await readContent(call.operation, fields, flags.body, shell);
  const options = optionsOf(flags, flags.reason);
  const prepared = { appliance, call, content, options };
  const output = path === undefined ? undefined : await createOutputFile(path);
  const redact = redactor(content);
  const redacted = {
    ...session,
    say: (line: string) => session.say(redact(line)),
    warn: (line: string) => session.warn(redact(line)),
  };
  try {
    if (flags['dry-run']) return await showDryRun(prepared, redacted);
    if (flags.ask) return await ask(prepared, redacted);
    const code = await send(prepared, redacted, output);
    if (code !== 0) await output?.discard();
    return code;
  } catch (error) {
    await output?.discard();
    throw error instanceof AdminError ? error.without(redact) : error;
  }
}

interface PreparedCall {
  readonly appliance: string;
  readonly call: OperationCall;
  readonly content: Content | undefined;
  readonly options: CallOptions;
}

function refuseContradictions({ operation: { key, row } }: OperationCall, { flags }: AdminSession): void {
  const overriding = (['force', 'break-glass'] as const).find((name) => flags[name]);
  if (overriding !== undefined && flags.reason === undefined)
    throw new UsageError(`--${overriding} needs --reason=TEXT, for the audit`);
  if (flags['dry-run'] && flags.output !== undefined)
    throw new UsageError('--output does not go with --dry-run, which has nothing to save; leave one of them out');
  if (flags['backup-first'] && !changes(row.risk))
    throw new UsageError(`${key} changes nothing, so there is nothing to back up first; leave --backup-first out`);
}

/** Resolves to the gateway's dry run of a call, also as it came. */
async function dryRunOf(
  { appliance, call, content, options }: PreparedCall,
  confirm: string | undefined,
  { client }: AdminSession,
): Promise<{ readonly dryRun: DryRun; readonly body: Buffer }> {
  const answer = await client.send(requestFor(appliance, call, content, { ...options, confirm, dryRun: true }));
  const body = await answer.whole();
  const title = 'The gateway answered a dry run with something else';
  return { dryRun: readReply(DryRunSchema, parseJson(body), title), body };
}

async function showDryRun(prepared: PreparedCall, session: AdminSession): Promise<number> {
  const { flags, warn } = session;
  const { dryRun, body } = await dryRunOf(prepared, flags.confirm, session);
  await printAnswer(body, () => dryRunLines(dryRun), session);
  if (flags['backup-first']) {
    const { plan } = await planOf({ appliance: prepared.appliance, recipe: 'backup' }, session);
    warn(`Before it, for --backup-first: ${plan.steps.map(({ title }) => title).join('; ')}.`);
  }
  return wouldFail(dryRun) ? 1 : 0;
}

/** Asks for the operation instead of sending it. Resolves to the exit code. */
async function ask(
  { appliance, call, content, options: { reason, force } }: PreparedCall,
  session: AdminSession,
): Promise<number> {
  const { operation, params: parameters } = call;
  const { key, row } = operation;
  if (!changes(row.risk)) throw new UsageError(`${key} changes nothing, so it needs no approval; leave --ask out`);
  if (row.body !== 'json' && row.body !== 'none')
    throw new UsageError(`${key} takes a file, which is not kept until somebody approves it; leave --ask out`);
  // The approval of its plan confirms it: a name is not needed here.
  const body = content && (parseJson(content.bytes) as Asking['body']);
  await askForChange({ appliance, operation: key, parameters, body, reason, force }, session);
  return 0;
}

/** Resolves to the exit code. */
async function send(prepared: PreparedCall, session: AdminSession, output: OutputFile | undefined): Promise<number> {
  const { appliance, call, content, options } = prepared;
  const { flags, client, warn } = session;
  const given = flags.confirm;
  const confirm = given ?? confirmationOf(call, appliance)[0];
  if (changes(call.operation.row.risk)) {
    for (const line of await preflight(prepared, confirm, session)) warn(line);
    const unconfirmed = given === undefined ? confirm : undefined;
    if (!(await isAgreed(`${call.operation.key} on ${appliance}`, session, unconfirmed))) return 2;
  }
  if (flags['backup-first'] && (await backUp(prepared, session)) !== 0) return 1;
  const answer = await client.send(requestFor(appliance, call, content, { ...options, confirm }));
  if (answer.waitsAs !== undefined) {
    await showWaiting(answer, session);
    return waitsCode;
  }
  await showAnswer(answer, appliance, session, output);
  return 0;
}

/** Resolves to the exit code. */
async function backUp({ appliance, call, options }: PreparedCall, session: AdminSession): Promise<number> {
  // A script reads the answer alone.
  const quiet = session.flags.json ? { ...session, say: session.warn } : session;
  const { reason = `before ${call.operation.key}`, breakGlass } = options;
  const code = await run({ appliance, recipe: 'backup', reason, ...(breakGlass && { break_glass: true }) }, quiet);
  if (code !== 0) session.warn(`${call.operation.key} was not sent: there is no backup.`);
  return code;
}

/**
 * Asks the gateway for a dry run of a change before it is sent. Resolves to the lines of its
 * warnings; rejects with an {@link AdminError} when the change would be refused.
 */
async function preflight(
  prepared: PreparedCall,
  confirm: string | undefined,
  session: AdminSession,
): Promise<readonly string[]> {
  const { appliance, options } = prepared;
  const { dryRun } = await dryRunOf(prepared, confirm, session);
  if (dryRun.would === 'be refused') throw refused(dryRun, 'The gateway', dryRun.because, remediesOf(dryRun));
  // The appliance has the last word, and its description may be wrong.
  if (wouldFail(dryRun) && options.force !== true)
    throw refused(dryRun, appliance, dryRun.validation.problems, [
      `zlb-exporter admin parameters ${appliance} ${dryRun.operation} … explains what it takes; --force --reason=TEXT sends it nevertheless.`,
    ]);
  return warningLines(dryRun);
}

function refused(dryRun: DryRun, who: string, because: readonly string[], remedies: readonly string[]): AdminError {
  return new AdminError(`${who} would refuse ${dryRun.operation}, so it was not sent`, {
    detail: because.join(' '),
    remedy: remedies.join(' '),
    body: Buffer.from(JSON.stringify(dryRun)),
  });
}

function remediesOf({ because, findings, confirmation }: DryRun): readonly string[] {
  const blocking = findings.filter(({ severity }) => severity === 'blocking');
  return [
    ...blocking.map(({ remedy }) => remedy),
    ...(blocking.length > 0 ? ['Here: --force --reason=TEXT.'] : []),
    ...(confirmation.required && !confirmation.given ? ['Here: --confirm=NAME.'] : []),
    ...(because.some((sentence) => /frozen/i.test(sentence)) ? ['Here: zlb-exporter admin unfreeze.'] : []),
  ];
}
