import type { PinnedPlan } from '../calls/request.ts';
import type { Caller } from '../policy/principal.ts';
import { recipeContextFor } from './calls-of-change.ts';
import type { Change, ChangePlan, StepEvent } from './change.ts';
import type { HeldChange } from './change-store.ts';
import type { ChangesContext } from './context.ts';
import type { PlannedChange } from './plan.ts';
import { runSteps } from './run-steps.ts';
import { secretsOf } from './task.ts';

/** A plan that may be carried out now. */
export interface Cleared {
  readonly planned: PlannedChange;
  /** In whose name it is carried out; its signal aborts when nobody waits for it any more. */
  readonly runner: Caller;
  /** Told what the steps do. */
  readonly tell: (event: StepEvent) => void;
}

/** A change that is under way, or that waits since the policy says so. */
export interface Launched {
  readonly change: Change;
  /**
   * Resolves when it is over, or when a stop of the exporter ends it: then the next start finds out
   * what became of it. Undefined for one that waits.
   */
  readonly over: Promise<Change> | undefined;
}

/**
 * Stores a change as approved, and begins to carry it out: the only way to that. Rejects if another
 * one changes the same object, or if it cannot be stored.
 */
export async function launch(
  context: ChangesContext,
  cleared: Cleared,
  save: () => Promise<HeldChange>,
): Promise<Launched> {
  const { id, plan } = cleared.planned;
  context.store.claim(id, urlsOf(plan));
  try {
    const held = await save();
    return { change: held.change, over: start(context, held, cleared) };
  } catch (error) {
    context.store.release(id);
    throw error;
  }
}

function start(context: ChangesContext, held: HeldChange, cleared: Cleared): Promise<Change> {
  const { id } = held.change;
  const running = carryOut(context, held, cleared)
    .catch((error: unknown) => {
      // It stays `executing` on disk, and the next sweep asks the journal what became of it.
      context.log.error({ err: error, change: id }, 'change broke off');
    })
    .finally(() => {
      context.store.release(id);
      context.underWay.delete(running);
    })
    .then(() => held.change);
  context.underWay.add(running);
  return running;
}

async function carryOut(context: ChangesContext, held: HeldChange, cleared: Cleared): Promise<void> {
  const { planned, runner, tell } = cleared;
  const sent = secretsOf(planned.task);
  const shown = (text: string): string => context.recorder.said(text, runner.token, maxLine, sent) ?? '';
  await context.store.move(held, { state: 'executing' });
  let isSent = false;
  const parts = {
    asked: planned,
    plan: pinned(held.change, planned),
    onLeaving() {
      isSent = true;
    },
  };
  const { calls } = recipeContextFor(context, { ...parts, caller: runner });
  // The way back is gone also if nobody waits any more: only a stop of the exporter ends it.
  const back = recipeContextFor(context, { ...parts, caller: { ...runner, signal: context.stopping.signal } });
  const ending = await runSteps(planned.steps, {
    async send(write) {
      isSent = false;
      await calls.write(write);
    },
    isSent: () => isSent,
    signal: runner.signal,
    goBack: async ({ wayBack }) => (await wayBack?.run(back, back.calls.write)) ?? '',
    tell: (event) => tell('line' in event ? { ...event, line: shown(event.line) } : event),
  });
  if (context.stopping.signal.aborted && ending.state !== 'done') return;
  held.ending = { ...ending, lines: ending.lines.map(shown) };
  await context.store.move(held, held.ending);
}

const maxLine = 2_000;

function pinned({ requested_by: requestedBy, decision }: Change, { plan, recent }: PlannedChange): PinnedPlan {
  const blocking = plan.steps.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'blocking'));
  const isApproved = decision?.what === 'approved';
  return {
    requestedBy,
    approvedBy: isApproved && decision.by !== requestedBy ? decision.by : undefined,
    isApproved,
    urls: urlsOf(plan),
    guards: new Set(blocking.map(({ guard }) => guard)),
    recent,
  };
}

/** Returns the addresses of the calls of a plan, also of those of its way back. */
function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call, way_back: back = [] }) => [call, ...back].flatMap((each) => each?.url ?? [])));
}
