import type { PinnedPlan } from '../calls/request.ts';
import type { Caller } from '../policy/principal.ts';
import { contextFor } from './calls-of-change.ts';
import type { Change, ChangePlan, StepEvent } from './change.ts';
import type { HeldChange } from './change-book.ts';
import type { ChangesCore } from './core.ts';
import type { FreshPlan } from './plan.ts';
import { runSteps } from './run-steps.ts';
import { type Planning, secretsOf } from './task.ts';

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
export async function launch(core: ChangesCore, cleared: Cleared, store: () => Promise<HeldChange>): Promise<Launched> {
  const { id } = cleared.asked;
  core.book.claim(id, urlsOf(cleared.prepared.plan));
  try {
    const held = await store();
    return { change: held.stored.change, over: start(core, held, cleared) };
  } catch (error) {
    core.book.release(id);
    throw error;
  }
}

function start(core: ChangesCore, held: HeldChange, cleared: Cleared): Promise<Change> {
  const { id } = held.stored.change;
  const running = carryOut(core, held, cleared)
    .catch((error: unknown) => {
      // It stays `executing` on disk, and the next sweep asks the journal what became of it.
      core.log.error({ err: error, change: id }, 'change broke off');
    })
    .finally(() => {
      core.book.release(id);
      core.underWay.delete(running);
    })
    .then(() => held.stored.change);
  core.underWay.add(running);
  return running;
}

async function carryOut(core: ChangesCore, held: HeldChange, cleared: Cleared): Promise<void> {
  const { asked, prepared, runner, isApproved, tell } = cleared;
  const plan = pinned(held.stored.change, prepared.plan);
  const sent = secretsOf(asked.task);
  const shown = (text: string): string => core.recorder.said(text, runner.token, maxLine, sent) ?? '';
  await core.book.move(held, 'executing');
  let isSent = false;
  const parts = {
    asked,
    run: { plan, isApproved, recent: prepared.recent },
    onLeaving() {
      isSent = true;
    },
  };
  const { calls } = contextFor(core, { ...parts, caller: runner });
  // The way back is gone also if nobody waits any more: only a stop of the exporter ends it.
  const back = contextFor(core, { ...parts, caller: { ...runner, signal: core.stopping.signal } });
  const ending = await runSteps(prepared.steps, {
    async send(write) {
      isSent = false;
      await calls.write(write);
    },
    isSent: () => isSent,
    signal: runner.signal,
    goBack: async ({ wayBack }) => (await wayBack?.run(back, back.calls.write)) ?? '',
    tell: (event) => tell('line' in event ? { ...event, line: shown(event.line) } : event),
  });
  if (core.stopping.signal.aborted && ending.state !== 'done') return;
  const { state, ...outcome } = { ...ending, lines: ending.lines.map(shown) };
  held.ending = { state, ...outcome };
  await core.book.move(held, state, { outcome });
}

const maxLine = 2_000;

function pinned({ requested_by: requestedBy, decision }: Change, plan: ChangePlan): PinnedPlan {
  const blocking = plan.steps.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'blocking'));
  const isByAnother = decision?.what === 'approved' && decision.by !== requestedBy;
  return {
    requestedBy,
    approvedBy: isByAnother ? decision.by : undefined,
    urls: urlsOf(plan),
    guards: new Set(blocking.map(({ guard }) => guard)),
  };
}

/** Returns the addresses of the calls of a plan, also of those of its way back. */
function urlsOf({ steps }: ChangePlan): ReadonlySet<string> {
  return new Set(steps.flatMap(({ call, way_back: back = [] }) => [call, ...back].flatMap((each) => each?.url ?? [])));
}
