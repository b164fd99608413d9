import { createOperations, type Operations } from '../../admin/policy/operation.ts';
import { parseJson } from '../../lib/check.ts';
import { oneLine, shellWord } from '../../lib/text.ts';
import type { CommandContext } from '../command.ts';
import type { FlagName, Flags } from '../flags.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import {
  type CallOptions,
  createGatewayClient,
  type GatewayClient,
  type GatewayRequest,
  readConnection,
} from './gateway-client.ts';
import { printLines } from './render.ts';

export interface AdminSession extends CommandContext {
  readonly client: GatewayClient;
  readonly operations: Operations;
}

/** The command that the words after `admin` name. */
export interface AdminCommand {
  /** For messages, such as `admin freeze`. */
  readonly name: string;
  /** The flags of the command; every command also has those that name the gateway. */
  readonly flags: readonly FlagName[];
  /** Resolves to the exit code; undefined is 0. */
  readonly run: (session: AdminSession) => Promise<number | void>;
}

/** Runs a task with a client of the gateway that flags and environment name. Resolves to the exit code. */
export async function withSession(context: CommandContext, task: AdminCommand['run']): Promise<number> {
  const connection = await readConnection(context);
  const client = createGatewayClient(connection, context.stopped);
  // A hostile listener could send the token back.
  const redact = (text: string): string => connection.token.scrub(text);
  const printOut = (line: string): void => context.printOut(redact(line));
  const printErr = (line: string): void => context.printErr(redact(line));
  try {
    return (await task({ ...context, printOut, printErr, client, operations: createOperations() })) ?? 0;
  } catch (error) {
    return await reportError(error instanceof AdminError ? error.without(redact) : error, context);
  } finally {
    await client.close();
  }
}

/** Returns the options that flags give to each call of a command. */
export function optionsOf(flags: Flags, reason: string | undefined): CallOptions {
  return { reason, force: flags.force === true, breakGlass: flags['break-glass'] === true };
}

async function reportError(error: unknown, { flags, printErr, shell }: CommandContext): Promise<number> {
  if (error instanceof AdminError) {
    if (flags.json && error.body) await shell.write(error.body);
    for (const line of errorLines(error)) printErr(line);
    return 1;
  }
  // A wait or a request that the process was asked to stop.
  if (error instanceof Error && error.name === 'AbortError') {
    printErr('zlb-exporter: interrupted');
    return 1;
  }
  throw error;
}

/** Sends a request, and prints its response as {@link printResponse} does. */
export async function sendAndPrint(
  session: AdminSession,
  request: GatewayRequest,
  toLines: (response: unknown) => readonly string[],
): Promise<void> {
  await printResponse(await (await session.client.send(request)).readBody(), toLines, session);
}

/** Prints the lines of a response, or with `--json` the exact response. */
export async function printResponse(
  body: Buffer,
  toLines: (response: unknown) => readonly string[],
  session: AdminSession,
): Promise<void> {
  if (session.flags.json) await session.shell.write(body);
  else printLines(toLines(parseJson(body)), session);
}

/**
 * Returns the lines of an error for a terminal, without control characters: texts of an appliance
 * may be in it.
 */
function errorLines({ title, message, remedy, code, requestId }: AdminError): readonly string[] {
  const origin = [code && `code ${code}`, requestId && `request ${requestId}`].filter(Boolean).join(', ');
  return [
    `zlb-exporter: ${oneLine(title, 200)}`,
    ...[message, remedy, origin].filter((text) => text !== '').map((text) => `  ${oneLine(text, 2_000)}`),
  ];
}

/**
 * Resolves to true when a change such as `actOnFarm on lb-1` may be sent. Otherwise it has printed
 * the reason and the remedy. `unconfirmed` is the name that the caller has not confirmed yet, for a
 * call that cannot be undone.
 */
export async function askAgreement(
  title: string,
  { flags, shell, printErr }: AdminSession,
  unconfirmed?: string,
): Promise<boolean> {
  const what = oneLine(title, 200);
  const name = unconfirmed === undefined ? undefined : oneLine(unconfirmed, 200);
  if (flags.yes && name === undefined) return true;
  // Standard input is at its end, so it cannot bring an answer.
  if (flags.body === '-' || !shell.ask) {
    const because =
      flags.body === '-'
        ? 'standard input is the body, so your agreement cannot be asked for'
        : 'there is no terminal to ask for your agreement';
    const missing = [...(name === undefined ? [] : [shellWord(`--confirm=${name}`)]), '--yes'].join(' ');
    printErr(`Nothing was done: ${because}; repeat it with ${missing}.`);
    return false;
  }
  if (name === undefined) {
    const agreed = /^y(?:es)?$/i.test((await shell.ask(`\nGo on with ${what}? [y/N] `)).trim());
    if (!agreed) printErr('Nothing was done.');
    return agreed;
  }
  const typed = await shell.ask(`\n${what} cannot be undone. Type ${name} to go on: `);
  if (typed.trim() === unconfirmed) return true;
  printErr(`Nothing was done: that is not ${name}.`);
  return false;
}
