import type { Step } from '../recipes/recipe.ts';
import type { ChangePlan, RequestState } from './change-request.ts';
import type { Core } from './core.ts';
import { type Ending, endingOf, execute } from './execution.ts';
import { createInProcessCalls } from './in-process.ts';
import type { RecentReads } from '../gateway/request.ts';
import type { Actor, Entry } from './request-book.ts';

interface ApprovedChange {
  readonly steps: readonly Step[];
  /** The replies that the plan of the approval was made from. */
  readonly recent: RecentReads;
  readonly approver: Actor;
}

/** Begins to carry out an approved request, which nobody waits for. */
export function start(core: Core, entry: Entry, approved: ApprovedChange): void {
  const running = carryOut(core, entry, approved)
    .catch((error: unknown) => {
      // It stays `executing` on disk, and the next sweep asks the audit what became of it.
      core.log.error({ err: error, request: entry.stored.request.id }, 'change request broke off');
    })
    .finally(() => {
      entry.isExecuting = false;
      core.underWay.delete(running);
    });
  core.underWay.add(running);
}

async function carryOut(core: Core, entry: Entry, { steps, recent, approver }: ApprovedChange): Promise<void> {
  const { id, appliance, requested_by: requestedBy, reason, title, force, plan } = entry.stored.request;
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
      onSending() {
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

async function end({ book }: Core, entry: Entry, { state, ...outcome }: Ending): Promise<void> {
  await book.move(entry, state, { outcome });
}

/**
 * Ends what has waited too long, finds out what became of requests that a crash interrupted, and
 * updates the metrics.
 */
export async function sweep(core: Core): Promise<void> {
  for (const entry of core.book.entries) {
    if (entry.isDeciding || entry.isExecuting) continue;
    try {
      await core.book.alone(entry, async () => {
        await core.book.endIfOverdue(entry);
        await core.book.keepAlerts(entry);
        await settle(core, entry);
      });
    } catch (error) {
      // Such as an audit that another exporter writes: the next sweep tries again.
      core.log.debug({ err: error, request: entry.stored.request.id }, 'change request cannot be ended yet');
    }
  }
  core.book.updateMetrics();
}

/** Ends a request that a stopped exporter, or a full disk, left behind. */
async function settle(core: Core, entry: Entry): Promise<void> {
  if (!isLeftBehind(entry.stored.request.state)) return;
  await core.book.refresh(entry);
  const { id, state, plan } = entry.stored.request;
  if (!isLeftBehind(state)) return;
  const records = entry.ending ? [] : await core.journal.query({ limit: maxRecords, request: id });
  await end(core, entry, entry.ending ?? endingOf(state, plan, records));
}

function isLeftBehind(state: RequestState): state is 'approved' | 'executing' {
  return state === 'approved' || state === 'executing';
}

/** More than the records of any request. */
const maxRecords = 1_000;

/** Returns the addresses of the calls of a plan. */
export function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call }) => call?.url ?? []));
}
