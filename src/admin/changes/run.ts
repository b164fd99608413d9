import type { PinnedPlan } from '../calls/request.ts';
import type { Caller } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import type { Step } from '../recipes/recipe.ts';
import { createCalls } from './calls.ts';
import type { Change, ChangePlan, Ending, StepEvent } from './change.ts';
import type { Entry } from './change-book.ts';
import type { ChangesCore } from './core.ts';
import { contextFor, type FreshPlan, type Planning } from './plan.ts';
import { said } from './rights.ts';
import { runSteps } from './run-steps.ts';

/** A plan that may be carried out now. */
export interface Cleared {
  readonly asked: Planning;
  readonly prepared: FreshPlan;
  /** In whose name it is carried out; its signal aborts when nobody waits for it any more. */
  readonly runner: Caller;
  /** True if another person has approved it. */
  readonly isApproved: boolean;
  /** Told what the steps do. */
  readonly tell: (event: StepEvent) => void;
}

/**
 * Begins to carry out a change that is on disk as approved. Resolves when it is over, or when a
 * stop of the exporter ends it: then the next start finds out what became of it.
 */
export function start(core: ChangesCore, entry: Entry, cleared: Cleared): Promise<Change> {
  const { id } = entry.stored.change;
  const running = carryOut(core, entry, cleared)
    .catch((error: unknown) => {
      // It stays `executing` on disk, and the next sweep asks the journal what became of it.
      core.log.error({ err: error, change: id }, 'change broke off');
    })
    .finally(() => {
      entry.isExecuting = false;
      core.claims.delete(id);
      core.underWay.delete(running);
    })
    .then(() => entry.stored.change);
  core.underWay.add(running);
  return running;
}

async function carryOut(core: ChangesCore, entry: Entry, cleared: Cleared): Promise<void> {
  const { prepared, runner, tell } = cleared;
  await core.book.move(entry, 'executing');
  const { calls, isSent } = callsOf(core, cleared);
  const shown = (text: string): string => said(core, text, runner.token, maxLine) ?? '';
  const ending = await runSteps(prepared.steps, {
    send: (write) => calls.write(write),
    isSent,
    signal: runner.signal,
    goBack: (step) => goBack(core, cleared, step),
    tell: (event) => tell('line' in event ? { ...event, line: shown(event.line) } : event),
  });
  if (core.stopping.signal.aborted && ending.state !== 'done') return;
  await end(core, entry, { ...ending, lines: ending.lines.map(shown) });
}

const maxLine = 2_000;

async function end({ book }: ChangesCore, entry: Entry, ending: Ending): Promise<void> {
  entry.ending = ending;
  const { state, ...outcome } = ending;
  await book.move(entry, state, { outcome });
}

/** Goes the way back also if nobody waits any more: only a stop of the exporter ends it. */
async function goBack(core: ChangesCore, cleared: Cleared, { wayBack }: Step): Promise<string> {
  const runner = { ...cleared.runner, signal: core.stopping.signal };
  const { calls } = callsOf(core, { ...cleared, runner });
  const context = contextFor(core, cleared.asked, { actor: runner });
  return (await wayBack?.run(context, (write) => calls.write(write))) ?? '';
}

/** Creates the calls that carry out a plan, and tells whether the newest began to leave. */
function callsOf(core: ChangesCore, { asked, prepared, runner, isApproved }: Cleared) {
  let isSent = false;
  const plan = pinned(core, asked, prepared.plan);
  const calls = createCalls(core, {
    change: { ...asked, breakGlass: asked.breakGlass ?? false },
    caller: runner,
    run: { plan, isApproved, recent: prepared.recent },
    onLeaving() {
      isSent = true;
    },
  });
  return {
    calls: {
      ...calls,
      async write(write: Parameters<typeof calls.write>[0]) {
        isSent = false;
        await calls.write(write);
      },
    },
    isSent: () => isSent,
  };
}

function pinned({ book }: ChangesCore, { id }: Planning, plan: ChangePlan): PinnedPlan {
  const blocking = plan.steps.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'blocking'));
  return {
    requestedBy: book.find(id)?.stored.change.requested_by ?? '',
    urls: urlsOf(plan),
    guards: new Set(blocking.map(({ guard }) => guard)),
  };
}

/** Returns the addresses of the calls of a plan, also of those of its way back. */
function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call, way_back: back = [] }) => [call, ...back].flatMap((each) => each?.url ?? [])));
}

/**
 * Takes the objects of a plan for a change, until it is over. Throws an {@link AdminProblem} while
 * another change has one of them.
 */
export function claim({ claims }: ChangesCore, id: string, plan: ChangePlan): void {
  const urls = urlsOf(plan);
  const other = [...claims].find(([, taken]) => [...urls].some((url) => taken.has(url)));
  if (other) throw sameObject(other[0]);
  claims.set(id, urls);
}

function sameObject(id: string): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${id} is changing the same object; nothing was sent.`,
    remedy: `Ask again once ${id} is over.`,
    headers: { 'retry-after': '5' },
  });
}
