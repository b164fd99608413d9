import type { AuditLine } from '../journal/record.ts';
import type { ChangePlan, Ending } from './change.ts';
import type { HeldChange } from './change-store.ts';
import type { ChangesContext } from './context.ts';

/**
 * Ends what has waited too long, finds out what became of changes that a crash interrupted, and
 * updates the metrics.
 */
export async function sweep(context: ChangesContext): Promise<void> {
  for (const held of context.store.held) {
    if (held.isLocked || context.store.isClaimed(held.change.id)) continue;
    try {
      await context.store.withLock(held, async () => {
        await context.store.endIfOverdue(held);
        await context.store.keepAlerts(held);
        await recoverInterrupted(context, held);
      });
    } catch (error) {
      // Such as a journal that another exporter writes: the next sweep tries again.
      context.log.debug({ err: error, change: held.change.id }, 'change cannot be ended yet');
    }
  }
  context.store.updateMetrics();
}

/** Ends a change that a stopped exporter, or a full disk, left behind. */
async function recoverInterrupted(context: ChangesContext, held: HeldChange): Promise<void> {
  const { id, state, plan } = held.change;
  if (state !== 'approved' && state !== 'executing') return;
  const records = held.ending ? [] : await context.journal.query({ limit: maxRecords, request: id });
  await context.store.move(held, held.ending ?? (held.isFromCopy ? endingInCopy : endingOf(state, plan, records)));
}

/** Whatever a copy of the journal says, more may have been sent after it was made. */
const endingInCopy: Ending = {
  state: 'uncertain',
  lines: [
    '✗ The journal is a copy that was made while the change was under way. Its calls may have been made: look at the object.',
  ],
  code: null,
  sent: true,
};

/** More than the records of any change. */
const maxRecords = 1_000;

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
  const intents = records.toSorted((a, b) => a.seq - b.seq).filter(({ event }) => event === 'intent');
  const outcomes = records.filter(({ event }) => event === 'outcome');
  // After a server error the call may have been carried out; the gateway marks its own codes.
  const isUncertain = ({ status = 500, code, uncertain }: AuditLine): boolean =>
    uncertain === true || (code === undefined && status >= 500);
  const done = outcomes.filter((record) => (record.status ?? 500) < 400 && !isUncertain(record)).length;
  const ended = (ending: Ending['state'], line: string): Ending => ({
    state: ending,
    lines: [line],
    code: null,
    sent: ending !== 'failed' || intents.length > 0,
  });
  // It is written before the first call. A journal that was begun later says nothing.
  if (state === 'executing' && !records.some((record) => record.state === state))
    return ended(
      'uncertain',
      '✗ The journal does not have it any more. Its calls may have been made: look at the object.',
    );
  if (state === 'approved' || intents.length === 0)
    return ended(
      'failed',
      '✗ The exporter was stopped, or could not write, before it was carried out. Nothing was sent.',
    );
  if (outcomes.length < intents.length || outcomes.some(isUncertain))
    return ended(
      'uncertain',
      '✗ The exporter was stopped during a call, which may have been carried out. Look at the object.',
    );
  if (hasGoneBack(steps, intents))
    return ended(
      'failed',
      '✗ A step failed, and the exporter was stopped while it was taken back. Look at the object.',
    );
  const count = `${done} of ${planned} calls were carried out`;
  return done === planned
    ? ended('done', `✓ ${count}; the exporter was stopped before it looked at the result.`)
    : ended('failed', `✗ ${count}, and then the exporter was stopped.`);
}

/** Returns true if a call was made that the steps do not have after those before it. */
function hasGoneBack(steps: ChangePlan['steps'], intents: readonly AuditLine[]): boolean {
  const planned = steps.flatMap(({ call }) => call ?? []);
  let next = 0;
  return intents.some(({ operation, path }) => {
    const at = planned.findIndex(
      (call, index) => index >= next && call.operation === operation && call.url.endsWith(path),
    );
    next = at + 1;
    return at === -1;
  });
}
