import type { OperationCall } from '../../admin/operation.ts';
import { optionalFlag, UsageError } from '../command.ts';
import { AdminError } from './admin-error.ts';
import { createCalls } from './calls.ts';
import { confirmationFor } from './confirm.ts';
import { readContent } from './content.ts';
import type { Content } from './gateway-client.ts';
import { createOutputFile, type OutputFile } from './output-file.ts';
import { previewLines } from './preview.ts';
import { backupSteps } from './recipes/backup.ts';
import { requestFor, type Wishes } from './request.ts';
import { runSteps } from './run-steps.ts';
import { sayLines } from './say-lines.ts';
import { sentSecrets } from './sent-secrets.ts';
import type { AdminSession } from './session.ts';
import { showAnswer } from './show-answer.ts';
import { parseTarget } from './target.ts';

/** Flags that a single operation takes. */
export const operationFlags: readonly string[] = [
  'body',
  'output',
  'reason',
  'confirm',
  'dry-run',
  'force',
  'json',
  'backup-first',
];

/** Sends one operation to one appliance and shows what comes back. */
export async function callOperation(appliance: string, words: readonly string[], session: AdminSession): Promise<void> {
  const { flags, shell } = session;
  const { call, fields } = parseTarget(words, session.operations);
  const path = optionalFlag(flags, 'output');
  refuseContradictions(call, session);
  const content = await readContent(call.operation, fields, optionalFlag(flags, 'body'), shell);
  const wishes = { reason: optionalFlag(flags, 'reason'), force: flags.force === true };
  const order = { appliance, call, content, wishes };
  const output = path === undefined ? undefined : await createOutputFile(path);
  const hide = sentSecrets(content);
  const discreet = { ...session, say: (line: string) => session.say(hide(line)) };
  try {
    if (flags['dry-run'] === true) await showPreview(order, discreet);
    else await send(order, discreet, output);
  } catch (error) {
    await output?.discard();
    throw error instanceof AdminError ? error.without(hide) : error;
  }
}

interface Order {
  readonly appliance: string;
  readonly call: OperationCall;
  readonly content: Content | undefined;
  readonly wishes: Wishes;
}

function refuseContradictions({ operation: { key, row } }: OperationCall, { flags }: AdminSession): void {
  if (flags.force === true && flags.reason === undefined)
    throw new UsageError('--force needs --reason=TEXT, for the audit');
  if (flags['dry-run'] === true && flags.output !== undefined)
    throw new UsageError('--output does not go with --dry-run');
  if (flags['backup-first'] === true && (row.risk === 'read' || row.risk === 'secret'))
    throw new UsageError(`${key} changes nothing, so there is nothing to back up first`);
}

async function showPreview({ appliance, call, content, wishes }: Order, session: AdminSession): Promise<void> {
  const { flags, client, operations, say, warn, shell } = session;
  const confirm = optionalFlag(flags, 'confirm');
  if (flags.json === true) {
    const request = requestFor(appliance, call, content, { ...wishes, confirm, dryRun: true });
    await showAnswer(await client.send(request), appliance, { say, warn, shell, json: true });
    return;
  }
  const write = {
    key: call.operation.key,
    params: call.params,
    ...(content ? { content } : {}),
    ...(confirm === undefined ? {} : { confirm }),
  };
  const preview = await createCalls(client, operations, appliance).preview(write, wishes);
  sayLines(previewLines(preview), session);
}

async function send(order: Order, session: AdminSession, output: OutputFile | undefined): Promise<void> {
  const { appliance, call, content, wishes } = order;
  const { flags, client, say, warn, shell } = session;
  const confirm = await confirmationFor(call, appliance, session);
  if (flags['backup-first'] === true) await backUp(order, session);
  const answer = await client.send(requestFor(appliance, call, content, { ...wishes, confirm }));
  await showAnswer(answer, appliance, { say, warn, shell, json: flags.json === true, output });
}

async function backUp({ appliance, wishes }: Order, session: AdminSession): Promise<void> {
  const calls = createCalls(session.client, session.operations, appliance);
  // What a script reads is the answer alone.
  const say = session.flags.json === true ? session.warn : session.say;
  const steps = await backupSteps({ calls, now: session.now });
  await runSteps(steps, (write) => calls.write(write, wishes), { say, warn: session.warn });
}
