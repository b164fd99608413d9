import { parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import type { ShownChange } from '../../admin/changes/change.ts';
import { UsageError } from '../command.ts';
import { listLines, outcomeLines, readChange, changeLines, stateLine, undecidedLines } from './change-lines.ts';
import type { GatewayResponse, GatewayRequest } from './gateway-client.ts';
import { printLines } from './render.ts';
import { type Asking, post } from './run-change.ts';
import { type AdminCommand, type AdminSession, isAgreed, printResponse, show } from './session.ts';

/** Ends with this code when a change was not sent, because it waits for approval. */
export const waitsCode = 3;

/** Flags that ask for a change instead of sending it. */
export const askFlags: AdminCommand['flags'] = ['ask', 'reason', 'force', 'json', 'yes'];

/** Makes a change, and shows it; nothing is sent to an appliance. */
export async function askForChange(change: Asking, session: AdminSession): Promise<void> {
  await showWaiting(await session.client.send(post('/changes', change)), session);
}

/** Shows the change that the gateway made instead of sending a change. */
export async function showWaiting(response: Pick<GatewayResponse, 'whole'>, session: AdminSession): Promise<void> {
  const { flags, say, warn, shell } = session;
  const body = await response.whole();
  const change = readChange(parseJson(body));
  if (!flags.json) return printLines(undecidedLines(change), { say, warn });
  warn(stateLine(change));
  await shell.write(body);
}

interface ChangeCommand extends Pick<AdminCommand, 'flags'> {
  readonly run: (id: string, session: AdminSession) => ReturnType<AdminCommand['run']>;
}

/** The words after `admin changes`. */
export const changeCommands: ReadonlyMap<string, ChangeCommand> = new Map<string, ChangeCommand>([
  ['list', { flags: ['json', 'state'], run: (_, session) => list(session) }],
  [
    'show',
    {
      flags: ['json'],
      run: (id, session) =>
        show(session, { method: 'GET', path: pathOf(id) }, (response) => undecidedLines(readChange(response))),
    },
  ],
  ['approve', { flags: ['json', 'reason', 'yes', 'digest', 'watch'], run: approve }],
  ['deny', { flags: ['json', 'reason'], run: (id, session) => end(id, 'deny', session) }],
  ['cancel', { flags: ['json', 'reason'], run: (id, session) => end(id, 'cancel', session) }],
]);

/** Returns the command that the words after `admin changes` name; throws a UsageError. */
export function changeCommandOf([word = 'list', id = '', ...more]: readonly string[]): AdminCommand {
  const command = changeCommands.get(word);
  if (!command)
    throw new UsageError(
      `admin changes takes ${[...changeCommands.keys()].join(', ')}; to look at one: admin changes show ID`,
    );
  const name = `admin changes ${word}`;
  if (more.length > 0 || (word === 'list' && id !== '')) throw new UsageError(`${name} takes no more words`);
  if (word !== 'list' && id === '')
    throw new UsageError(`the id is missing: ${name} ID; zlb-exporter admin changes lists them`);
  return { name, flags: command.flags, run: (session) => command.run(id, session) };
}

/** Lists what is open, unless `--state` says otherwise. */
async function list(session: AdminSession): Promise<void> {
  const wanted = session.flags.state ?? 'open';
  const query = new URLSearchParams(
    wanted === 'all' ? [] : wanted.split(',').map((state): [string, string] => ['state', state]),
  );
  const path = query.size === 0 ? '/changes' : `/changes?${query.toString()}`;
  await show(session, { method: 'GET', path }, listLines);
}

async function end(id: string, word: 'deny' | 'cancel', session: AdminSession): Promise<void> {
  const reason = session.flags.reason;
  if (word === 'deny' && reason === undefined)
    throw new UsageError('a denial needs a reason, for those who asked: --reason=TEXT');
  await show(session, post(`${pathOf(id)}/${word}`, { reason }), (response) => [stateLine(readChange(response))]);
}

/** A change, and the response that had it. */
interface SeenChange {
  readonly change: ShownChange;
  readonly body: Buffer;
}

/**
 * Approves a plan that somebody has looked at: on a terminal the one that it shows, in a script the
 * one of `--digest`. Resolves to the exit code.
 */
async function approve(id: string, session: AdminSession): Promise<number> {
  const { flags } = session;
  const digest = flags.digest;
  if (flags.yes && digest === undefined)
    throw new UsageError(
      '--yes needs --digest=HEX, of the plan that somebody has looked at; zlb-exporter admin changes show ID has it',
    );
  // A script reads only the response.
  const quiet = flags.json ? { ...session, say: session.warn } : session;
  const approved =
    flags.yes && digest !== undefined ? await sendApproval(id, digest, session) : await approveShown(id, digest, quiet);
  if (typeof approved === 'number') return approved;
  const { change, body } = flags.watch ? await watch(approved, quiet) : approved;
  await printResponse(body, () => [stateLine(change), ...outcomeLines(change)], session);
  return !flags.watch || change.state === 'done' ? 0 : 1;
}

/** Shows the plan, and asks. May resolve to an exit code. */
async function approveShown(
  id: string,
  digest: string | undefined,
  session: AdminSession,
): Promise<SeenChange | number> {
  const { warn, shell } = session;
  const { change } = await see(session, { method: 'GET', path: pathOf(id) });
  printLines(changeLines(change), session);
  if (change.cannot_approve !== null) {
    warn(oneLine(change.cannot_approve, 1_000));
    return 1;
  }
  if (!shell.ask) {
    const missing = `--digest=${oneLine(change.digest, 64)} --yes`;
    warn(`Nothing was done: no terminal is there to ask for your agreement; repeat it with ${missing}.`);
    return 2;
  }
  const { title, appliance } = change;
  if (!(await isAgreed(`the approval of ${id}: ${title} on ${appliance}`, session))) return 2;
  return await sendApproval(id, digest ?? change.digest, session);
}

async function sendApproval(id: string, digest: string, session: AdminSession): Promise<SeenChange> {
  const reason = session.flags.reason;
  return await see(session, post(`${pathOf(id)}/approve`, { digest, reason }));
}

const watchIntervalMs = 2_000;

async function watch(approved: SeenChange, session: AdminSession): Promise<SeenChange> {
  const path = pathOf(approved.change.id);
  session.say('  … it is being carried out, and goes on if this command is stopped');
  let seen = approved;
  while (seen.change.outcome === null) {
    await session.sleep(watchIntervalMs);
    seen = await see(session, { method: 'GET', path });
  }
  return seen;
}

async function see(session: AdminSession, request: GatewayRequest): Promise<SeenChange> {
  const body = await (await session.client.send(request)).whole();
  return { change: readChange(parseJson(body)), body };
}

function pathOf(id: string): string {
  return `/changes/${encodeURIComponent(id)}`;
}
