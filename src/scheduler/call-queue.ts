import { Slots } from '../lib/slots.ts';
import { steadyNow } from '../lib/time.ts';

export type CallQueue = ReturnType<typeof createCallQueue>;

/**
 * The priorities of a step and its calls, the highest first. `immediate`: a farm that is read out
 * of schedule; its calls wait for a slot alone, and their cost delays those after it. Beyond their
 * part of the budget they are left to the next run. `first`: the
 * list of farms, for which people wait. `urgent`: what a person, a start or a change waits for, and
 * farms whose states only this read tells. `routine`: all else; its step has waited for the routine
 * budget, and is charged to it too.
 */
export const priorities = ['immediate', 'first', 'urgent', 'routine'] as const;

export type Priority = (typeof priorities)[number];

interface QueuedCall {
  readonly signal: AbortSignal;
  readonly priority: Priority;
}

/** The limits of the calls that polling makes to one appliance. */
export interface PollingLimits {
  readonly maxConcurrentPerAppliance: number;
  /** The maximum ratio of time spent in calls, 0 to 1. */
  readonly maxBusyRatio: number;
  readonly routineBusyRatio: number;
}

/** The times before which no urgent call, and no routine step, starts. */
export interface NotBefore {
  readonly urgentSteadyMs: number;
  readonly routineSteadyMs: number;
  /** When immediate calls have kept to their part of the budget again. */
  readonly immediateSteadyMs: number;
}

/** The part of the budget for immediate calls: farms that change at each poll leave time for all else. */
const ratioOfImmediate = 0.5;
/** How far they may be ahead of it, so that several farms that change together are read at once. */
const maxAheadMs = 20_000;

/**
 * Lets few calls to one appliance through at the same time, in the order of their arrival, and
 * bounds the ratio of time that they keep it busy. `notBefore` is that of the queue before it.
 */
export function createCallQueue(
  { maxConcurrentPerAppliance, maxBusyRatio, routineBusyRatio }: PollingLimits,
  notBefore: NotBefore = { urgentSteadyMs: 0, routineSteadyMs: 0, immediateSteadyMs: 0 },
) {
  let timer: NodeJS.Timeout | undefined;
  const slots = new Slots({ count: () => maxConcurrentPerAppliance, next });

  /** Returns the first call that need not wait for the budget. */
  function next(waiting: Iterable<QueuedCall>): QueuedCall | undefined {
    clearTimeout(timer);
    const waitMs = notBefore.urgentSteadyMs - steadyNow();
    const all = [...waiting];
    const admitted = all.find(({ priority }) => waitMs <= 0 || priority === 'immediate');
    if (all.length > 0 && !admitted) timer = setTimeout(() => slots.assign(), waitMs);
    return admitted;
  }

  return {
    get notBefore(): NotBefore {
      return notBefore;
    },
    /** False while immediate calls have taken too large a part of the budget. */
    get admitsImmediate(): boolean {
      return notBefore.immediateSteadyMs - steadyNow() <= maxAheadMs;
    },
    /**
     * Charges the time that a call kept the appliance busy: only immediate calls start until the
     * ratio is kept again, and no routine step until that of routine calls is.
     */
    charge(busySeconds: number, priority: Priority): void {
      // A call of d seconds may be followed by the next one after d / ratio, counted from its
      // start.
      const busyMs = busySeconds * 1_000;
      const after = (beforeSteadyMs: number, ratio: number): number =>
        Math.max(beforeSteadyMs, steadyNow() - busyMs) + busyMs / ratio;
      const { urgentSteadyMs, routineSteadyMs, immediateSteadyMs } = notBefore;
      const immediateRatio = maxBusyRatio * ratioOfImmediate;
      notBefore = {
        urgentSteadyMs: after(urgentSteadyMs, maxBusyRatio),
        routineSteadyMs: priority === 'routine' ? after(routineSteadyMs, routineBusyRatio) : routineSteadyMs,
        immediateSteadyMs: priority === 'immediate' ? after(immediateSteadyMs, immediateRatio) : immediateSteadyMs,
      };
    },
    /**
     * Runs `call` when it has a slot. Rejects with the signal's reason when it aborts while the call
     * waits.
     */
    async run<Value>({ signal, priority }: QueuedCall, call: () => Promise<Value>): Promise<Value> {
      await slots.take({ signal, priority });
      try {
        return await call();
      } finally {
        slots.release();
      }
    },
  };
}
