import { parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { ShownChange } from '../../admin/changes/change.ts';
import { UsageError } from '../command.ts';
import { listLines, outcomeLines, readChange, changeLines, stateLine, linesWithNextCommands } from './change-lines.ts';
import type { GatewayResponse, GatewayRequest } from './gateway-client.ts';
import { printLines } from './render.ts';
import { type ChangeBody, postRequest } from './run-change.ts';
import { type AdminCommand, type AdminSession, askAgreement, printResponse, sendAndPrint } from './session.ts';

/** Ends with this code when a change was not sent, because it waits for approval. */
export const waitsExitCode = 3;

/** The flags of a call that is proposed as a change instead of sent. */
export const askFlags: AdminCommand['flags'] = ['ask', 'reason', 'force', 'json', 'yes'];

/** Creates a change, and prints it; nothing is sent to an appliance. */
export async function askForChange(change: ChangeBody, session: AdminSession): Promise<void> {
  await printWaitingChange(await session.client.send(postRequest('/changes', change)), session);
}

/** Prints the change that was created because its call needs approval. */
export async function printWaitingChange(
  response: Pick<GatewayResponse, 'readBody'>,
  session: AdminSession,
): Promise<void> {
  const { flags, printOut, printErr, shell } = session;
  const body = await response.readBody();
  const change = readChange(parseJson(body));
  if (!flags.json) return printLines(linesWithNextCommands(change), { printOut, printErr });
  printErr(stateLine(change));
  await shell.write(body);
}

interface ChangeCommand extends Pick<AdminCommand, 'flags'> {
  readonly run: (id: string, session: AdminSession) => ReturnType<AdminCommand['run']>;
}

export const changeCommands: ReadonlyMap<string, ChangeCommand> = new Map<string, ChangeCommand>([
  ['list', { flags: ['json', 'state'], run: (_, session) => listChanges(session) }],
  [
    'show',
    {
      flags: ['json'],
      run: (id, session) =>
        sendAndPrint(session, { method: 'GET', path: pathOf(id) }, (response) =>
          linesWithNextCommands(readChange(response)),
        ),
    },
  ],
  ['approve', { flags: ['json', 'reason', 'yes', 'digest', 'watch'], run: approve }],
  ['deny', { flags: ['json', 'reason'], run: (id, session) => endChange(id, 'deny', session) }],
  ['cancel', { flags: ['json', 'reason'], run: (id, session) => endChange(id, 'cancel', session) }],
]);

/** Returns the command that the words after `admin changes` name; throws a UsageError. */
export function changeCommandOf([word = 'list', id = '', ...more]: readonly string[]): AdminCommand {
  const command = changeCommands.get(word);
  if (!command)
    throw new UsageError(
      `admin changes takes ${[...changeCommands.keys()].join(', ')}; to look at one: admin changes show ID`,
    );
  const name = `admin changes ${word}`;
  if (more.length > 0 || (word === 'list' && id !== '')) throw new UsageError(`${name} takes no more arguments`);
  if (word !== 'list' && id === '')
    throw new UsageError(`the id is missing: ${name} ID; zlb-exporter admin changes lists them`);
  return { name, flags: command.flags, run: (session) => command.run(id, session) };
}

/** Lists what is open, unless `--state` says otherwise. */
async function listChanges(session: AdminSession): Promise<void> {
  const wanted = session.flags.state ?? 'open';
  const query = new URLSearchParams(
    wanted === 'all' ? [] : wanted.split(',').map((state): [string, string] => ['state', state]),
  );
  const path = query.size === 0 ? '/changes' : `/changes?${query.toString()}`;
  await sendAndPrint(session, { method: 'GET', path }, listLines);
}

async function endChange(id: string, word: 'deny' | 'cancel', session: AdminSession): Promise<void> {
  const reason = session.flags.reason;
  if (word === 'deny' && reason === undefined)
    throw new UsageError('a denial needs a reason, for those who asked: --reason=TEXT');
  await sendAndPrint(session, postRequest(`${pathOf(id)}/${word}`, { reason }), (response) => [
    stateLine(readChange(response)),
  ]);
}

/** A change, and the response that had it. */
interface FetchedChange {
  readonly change: ShownChange;
  readonly body: Buffer;
}

/**
 * Approves a plan that a person has seen: on a terminal the plan that it prints, in a script the
 * plan of `--digest`. Resolves to the exit code.
 */
async function approve(id: string, session: AdminSession): Promise<number> {
  const { flags } = session;
  const digest = flags.digest;
  if (flags.yes && digest === undefined)
    throw new UsageError(
      '--yes needs --digest=HEX, of the plan that somebody has looked at; zlb-exporter admin changes show ID has it',
    );
  // A script reads only the response.
  const quiet = flags.json ? { ...session, printOut: session.printErr } : session;
  const approved =
    flags.yes && digest !== undefined ? await sendApproval(id, digest, session) : await approveShown(id, digest, quiet);
  if (typeof approved === 'number') return approved;
  const { change, body } = flags.watch ? await watchChange(approved, quiet) : approved;
  await printResponse(body, () => [stateLine(change), ...outcomeLines(change)], session);
  return !flags.watch || change.state === 'done' ? 0 : 1;
}

/** Shows the plan and asks. Resolves to the approved change, or to the exit code without an approval. */
async function approveShown(
  id: string,
  digest: string | undefined,
  session: AdminSession,
): Promise<FetchedChange | number> {
  const { printErr, shell } = session;
  const { change } = await fetchChange(session, { method: 'GET', path: pathOf(id) });
  printLines(changeLines(change), session);
  if (change.cannot_approve !== null) {
    printErr(oneLine(change.cannot_approve, 1_000));
    return 1;
  }
  if (!shell.ask) {
    const missing = `--digest=${oneLine(change.digest, 64)} --yes`;
    printErr(`Nothing was done: there is no terminal to ask for your agreement; repeat it with ${missing}.`);
    return 2;
  }
  const { title, appliance } = change;
  if (!(await askAgreement(`the approval of ${id}: ${title} on ${appliance}`, session))) return 2;
  return await sendApproval(id, digest ?? change.digest, session);
}

async function sendApproval(id: string, digest: string, session: AdminSession): Promise<FetchedChange> {
  const reason = session.flags.reason;
  return await fetchChange(session, postRequest(`${pathOf(id)}/approve`, { digest, reason }));
}

const watchIntervalMs = 2_000;

async function watchChange(approved: FetchedChange, session: AdminSession): Promise<FetchedChange> {
  const path = pathOf(approved.change.id);
  session.printOut('  … it is being carried out, and goes on if this command is stopped');
  let seen = approved;
  while (seen.change.outcome === null) {
    await session.sleep(watchIntervalMs);
    seen = await fetchChange(session, { method: 'GET', path });
  }
  return seen;
}

async function fetchChange(session: AdminSession, request: GatewayRequest): Promise<FetchedChange> {
  const body = await (await session.client.send(request)).readBody();
  return { change: readChange(parseJson(body)), body };
}

function pathOf(id: string): string {
  return `/changes/${encodeURIComponent(id)}`;
}
