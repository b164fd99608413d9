import type { AuditLine } from '../journal/record.ts';
import type { ChangePlan, Ending } from './change.ts';
import type { ChangeEntry } from './change-store.ts';
import type { ChangesContext } from './context.ts';

/**
 * Ends what has waited too long, finds out what became of changes that a crash interrupted, and
 * updates the metrics.
 */
export async function sweep(context: ChangesContext): Promise<void> {
  for (const entry of context.store.entries) {
    if (entry.isLocked || context.store.isClaimed(entry.change.id)) continue;
    try {
      await context.store.withLock(entry, async () => {
        await context.store.endIfLapsed(entry);
        await context.store.saveAlerts(entry);
        await recoverInterrupted(context, entry);
      });
    } catch (error) {
      // Such as a journal that another exporter writes: the next sweep tries again.
      context.log.debug({ err: error, change: entry.change.id }, 'change cannot be ended yet');
    }
  }
  context.store.updateMetrics();
}

/** Ends a change that was interrupted by a stop of the exporter, or by a full disk. */
async function recoverInterrupted(context: ChangesContext, entry: ChangeEntry): Promise<void> {
  const { id, state, plan } = entry.change;
  if (state !== 'approved' && state !== 'executing') return;
  const records = entry.ending ? [] : await context.journal.query({ limit: maxRecords, request: id });
  await context.store.transition(
    entry,
    entry.ending ?? (entry.isFromCopy ? copyEnding : endingOf(state, plan, records)),
  );
}

/** Whatever a copy of the journal says, more may have been sent after it was made. */
const copyEnding: Ending = {
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
  // Reads with a side effect are recorded as well, and are in no plan.
  const calls = records.filter(({ method }) => method !== 'GET').toSorted((a, b) => a.seq - b.seq);
  const intents = calls.filter(({ event }) => event === 'intent');
  const outcomes = calls.filter(({ event }) => event === 'outcome');
  // After a server error the call may have been carried out; the gateway marks its own codes.
  const isUncertain = ({ status = 500, code, uncertain }: AuditLine): boolean =>
    uncertain === true || (code === undefined && status >= 500);
  const done = outcomes.filter((record) => (record.status ?? 500) < 400 && !isUncertain(record)).length;
  const endingWith = (ending: Ending['state'], line: string): Ending => ({
    state: ending,
    lines: [line],
    code: null,
    sent: ending !== 'failed' || intents.length > 0,
  });
  // That record is written before the first call. A journal that was begun later does not have it.
  if (state === 'executing' && !records.some((record) => record.state === state))
    return endingWith(
      'uncertain',
      '✗ The journal does not have it any more. Its calls may have been made: look at the object.',
    );
  if (state === 'approved' || intents.length === 0)
    return endingWith(
      'failed',
      '✗ The exporter was stopped, or could not write, before it was carried out. Nothing was sent.',
    );
  if (outcomes.length < intents.length || outcomes.some(isUncertain))
    return endingWith(
      'uncertain',
      '✗ The exporter was stopped during a call, which may have been carried out. Look at the object.',
    );
  if (hasRolledBack(steps, intents))
    return endingWith(
      'failed',
      '✗ A step failed, and the exporter was stopped while it was taken back. Look at the object.',
    );
  const count = `${done} of ${planned} calls were carried out`;
  return done === planned
    ? endingWith('done', `✓ ${count}; the exporter was stopped before it looked at the result.`)
    : endingWith('failed', `✗ ${count}, and then the exporter was stopped.`);
}

/** Returns true if a call was made that is not one of the steps in their order: that of a rollback. */
function hasRolledBack(steps: ChangePlan['steps'], intents: readonly AuditLine[]): boolean {
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
