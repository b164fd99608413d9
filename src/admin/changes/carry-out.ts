import type { Caller } from '../policy/principal.ts';
import type { AuditLine } from '../journal/record.ts';
import type { RecentReads } from '../calls/request.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { Write } from '../recipes/calls.ts';
import type { Step } from '../recipes/recipe.ts';
import { perhapsBack, runSteps, waysBack } from '../recipes/run-steps.ts';
import type { ChangePlan, ChangeState, Ending } from './change.ts';
import { createInProcessCalls } from './in-process.ts';
import type { Entry } from './change-book.ts';
import type { ChangesCore } from './core.ts';

interface ApprovedChange {
  readonly steps: readonly Step[];
  /** The replies that the plan of the approval was made from. */
  readonly recent: RecentReads;
  readonly approver: Caller;
}

/** Begins to carry out an approved change, which nobody waits for. */
export function start(core: ChangesCore, entry: Entry, approved: ApprovedChange): void {
  const running = carryOut(core, entry, approved)
    .catch((error: unknown) => {
      // It stays `executing` on disk, and the next sweep asks the journal what became of it.
      core.log.error({ err: error, change: entry.stored.change.id }, 'change broke off');
    })
    .finally(() => {
      entry.isExecuting = false;
      core.underWay.delete(running);
    });
  core.underWay.add(running);
}

async function carryOut(core: ChangesCore, entry: Entry, { steps, recent, approver }: ApprovedChange): Promise<void> {
  const { id, appliance, requested_by: requestedBy, reason, title, force, plan } = entry.stored.change;
  const blocking = plan.steps.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'blocking'));
  const guards = new Set(blocking.map(({ guard }) => guard));
  await core.book.move(entry, 'executing');
  let isSent = false;
  const calls = createInProcessCalls(
    core,
    appliance,
    { ...approver, id, approved: { requestedBy, urls: urlsOf(plan), guards } },
    {
      recent,
      onLeaving() {
        isSent = true;
      },
    },
  );
  const ending = await execute(steps, {
    async send(write) {
      isSent = false;
      await calls.write(write, { force, reason: reason ?? title });
    },
    isSent: () => isSent,
  });
  // After a stop of the exporter, the next start finds out what became of it.
  if (approver.signal.aborted && ending.state !== 'done') return;
  entry.ending = ending;
  await end(core, entry, ending);
}

async function end({ book }: ChangesCore, entry: Entry, { state, ...outcome }: Ending): Promise<void> {
  await book.move(entry, state, { outcome });
}

/**
 * Ends what has waited too long, finds out what became of changes that a crash interrupted, and
 * updates the metrics.
 */
export async function sweep(core: ChangesCore): Promise<void> {
  for (const entry of core.book.entries) {
    if (entry.isDeciding || entry.isExecuting) continue;
    try {
      await core.book.alone(entry, async () => {
        await core.book.endIfOverdue(entry);
        await core.book.keepAlerts(entry);
        await settle(core, entry);
      });
    } catch (error) {
      // Such as a journal that another exporter writes: the next sweep tries again.
      core.log.debug({ err: error, change: entry.stored.change.id }, 'change cannot be ended yet');
    }
  }
  core.book.updateMetrics();
}

/** Ends a change that a stopped exporter, or a full disk, left behind. */
async function settle(core: ChangesCore, entry: Entry): Promise<void> {
  const { id, state, plan } = entry.stored.change;
  if (!isLeftBehind(state)) return;
  const records = entry.ending ? [] : await core.journal.query({ limit: maxRecords, request: id });
  await end(core, entry, entry.ending ?? endingOf(state, plan, records));
}

function isLeftBehind(state: ChangeState): state is 'approved' | 'executing' {
  return state === 'approved' || state === 'executing';
}

/** More than the records of any change. */
const maxRecords = 1_000;

/** Returns the addresses of the calls of a plan. */
export function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call }) => call?.url ?? []));
}

/** Sends the calls of a change. */
export interface Sender {
  readonly send: (write: Write) => Promise<void>;
  /** Returns true from when the newest call began to leave, whatever became of it. */
  readonly isSent: () => boolean;
}

/**
 * Runs the steps of an approved plan, one after another, and stops at the first that fails. Never
 * sends a call that the plan does not have.
 */
export async function execute(steps: readonly Step[], { send, isSent }: Sender): Promise<Ending> {
  const lines: string[] = [];
  let wasSent = false;
  const failure = await runSteps(steps, {
    async send(write) {
      if (!steps.some((step) => step.write === write))
        throw new TypeError('broken promise: a call that was not planned');
      await send(write).finally(() => (wasSent ||= isSent()));
    },
    isSent,
    onDone: (sentence) => lines.push(`✓ ${sentence}`),
  });
  if (!failure) return { state: 'done', lines, code: null, sent: wasSent };
  const { index, error, carriedOut } = failure;
  if (!(error instanceof AdminError)) throw error;
  const { title, message, remedy, code } = error;
  lines.push(
    `✗ ${steps[index]?.title}: ${sentences(title, message, remedy)}`,
    ...[perhapsBack(steps, failure) ?? []].flat(),
    ...waysBack(steps, failure).map((undo) => `To go back: ${undo}`),
  );
  return { state: carriedOut === 'perhaps' ? 'uncertain' : 'failed', lines, code: code ?? null, sent: wasSent };
}

function sentences(...texts: readonly string[]): string {
  return texts.flatMap((text) => (text === '' ? [] : text.endsWith('.') ? text : `${text}.`)).join(' ');
}

/**
 * Finds out from the journal what became of a change whose exporter was stopped: each of its calls
 * has an intent there before it is sent.
 */
export function endingOf(
  state: 'approved' | 'executing',
  { steps }: ChangePlan,
  records: readonly AuditLine[],
): Ending {
  const planned = steps.filter(({ call }) => call).length;
  const intents = records.filter(({ event }) => event === 'intent').length;
  const outcomes = records.filter(({ event }) => event === 'outcome');
  // After a server error the call may have been carried out; the gateway marks its own codes.
  const isUncertain = ({ status = 500, code, uncertain }: AuditLine): boolean =>
    uncertain === true || (code === undefined && status >= 500);
  const done = outcomes.filter((record) => (record.status ?? 500) < 400 && !isUncertain(record)).length;
  const ended = (ending: Ending['state'], line: string): Ending => ({
    state: ending,
    lines: [line],
    code: null,
    sent: ending !== 'failed' || intents > 0,
  });
  // It is written before the first call. A journal that was begun later says nothing.
  if (state === 'executing' && !records.some((record) => record.state === state))
    return ended(
      'uncertain',
      '✗ The journal does not have it any more. Its calls may have been made: look at the object.',
    );
  if (state === 'approved' || intents === 0)
    return ended(
      'failed',
      '✗ The exporter was stopped, or could not write, before it was carried out. Nothing was sent.',
    );
  if (outcomes.length < intents || outcomes.some(isUncertain))
    return ended(
      'uncertain',
      '✗ The exporter was stopped during a call, which may have been carried out. Look at the object.',
    );
  const count = `${done} of ${planned} calls were carried out`;
  return done === planned
    ? ended('done', `✓ ${count}; the exporter was stopped before it looked at the result.`)
    : ended('failed', `✗ ${count}, and then the exporter was stopped.`);
}
