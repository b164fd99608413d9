import { confirmationOf } from '../../admin/calls/approval.ts';
import type { OperationCall } from '../../admin/policy/operation.ts';
import { isWriteRisk } from '../../admin/policy/policy.ts';
import { parseJson } from '../../lib/check.ts';
import { UsageError } from '../command.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import { type AdminCommand, type AdminSession, askAgreement, optionsOf, printResponse } from './session.ts';
import { contentFromFlags, createRedactor } from './content.ts';
import { type CallOptions, parseReply, requestFor } from './gateway-client.ts';
import { createOutputFile, type OutputFile, showResponse } from './show-response.ts';
import type { Content } from '../../admin/recipes/calls.ts';
import { type DryRun, DryRunSchema } from '../../admin/calls/dry-run.ts';
import { dryRunLines, refusalLines, warningLines, wouldFail } from './change-lines.ts';
import type { ChangeBody } from './run-change.ts';
import { askForChange, printWaitingChange, waitsExitCode } from './change-commands.ts';
import { parseTarget } from './words.ts';

export const operationFlags: AdminCommand['flags'] = [
  'body',
  'output',
  'reason',
  'confirm',
  'dry-run',
  'force',
  'break-glass',
  'json',
  'yes',
];

/**
 * Sends one operation to one appliance and shows what comes back, or asks for it. Resolves to the
 * exit code: 1 for the dry run of a call that would be refused, 2 when nobody agreed, 3 when it
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
  const content = await contentFromFlags(call.operation, fields, flags.body, shell);
  const options = optionsOf(flags, flags.reason);
  const prepared = { appliance, call, content, options };
  const output = path === undefined || flags['dry-run'] ? undefined : await createOutputFile(path);
  const redact = createRedactor(content);
  const redacted = {
    ...session,
    printOut: (line: string) => session.printOut(redact(line)),
    printErr: (line: string) => session.printErr(redact(line)),
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

/** Resolves to the gateway's dry run of a call, and to the body that it came in. */
async function dryRunOf(
  { appliance, call, content, options }: PreparedCall,
  confirm: string | undefined,
  session: AdminSession,
): Promise<{ readonly dryRun: DryRun; readonly body: Buffer }> {
  const response = await session.client.send(
    requestFor(appliance, call, content, { ...options, confirm, dryRun: true }),
  );
  const body = await response.readBody();
  const title = 'The gateway answered a dry run with something other than its result';
  return { dryRun: parseReply(DryRunSchema, parseJson(body), title), body };
}

async function showDryRun(prepared: PreparedCall, session: AdminSession): Promise<number> {
  const { dryRun, body } = await dryRunOf(prepared, session.flags.confirm, session);
  await printResponse(body, () => dryRunLines(dryRun), session);
  return wouldFail(dryRun) ? 1 : 0;
}

/** Asks for the operation instead of sending it. Resolves to the exit code. */
async function ask(
  { appliance, call, content, options: { reason, force } }: PreparedCall,
  session: AdminSession,
): Promise<number> {
  const { operation, params: parameters } = call;
  const { operationId, row } = operation;
  if (row.body !== 'json' && row.body !== 'none')
    throw new UsageError(`${operationId} takes a file, which is not kept until somebody approves it; leave --ask out`);
  // Whoever approves the plan confirms the call, so --confirm is not needed here.
  const body = content && (parseJson(content.bytes) as ChangeBody['body']);
  await askForChange({ appliance, operation: operationId, parameters, body, reason, force }, session);
  return 0;
}

async function send(prepared: PreparedCall, session: AdminSession, output: OutputFile | undefined): Promise<number> {
  const { appliance, call, content, options } = prepared;
  const { flags, client, printErr } = session;
  const given = flags.confirm;
  const confirm = given ?? confirmationOf(call, appliance)[0];
  if (isWriteRisk(call.operation.row.risk)) {
    const { dryRun, body } = await dryRunOf(prepared, confirm, session);
    // The appliance has the last word, and its description may be wrong.
    if (dryRun.would === 'be refused' || (wouldFail(dryRun) && !flags.force)) {
      if (flags.json) await session.shell.write(body);
      for (const line of refusalLines(dryRun)) printErr(line);
      return 1;
    }
    for (const line of warningLines(dryRun)) printErr(line);
    const unconfirmed = given === undefined ? confirm : undefined;
    if (!(await askAgreement(`${call.operation.operationId} on ${appliance}`, session, unconfirmed))) return 2;
  }
  const response = await client.send(requestFor(appliance, call, content, { ...options, confirm }));
  if (response.changeId !== undefined) {
    await printWaitingChange(response, session);
    return waitsExitCode;
  }
  await showResponse(response, appliance, session, output);
  return 0;
}
