import { type Static, Type } from 'typebox';
import type { RecipeCalls, Write } from './calls.ts';
import { AdminError } from '../policy/admin-error.ts';
import type { KnownFarm } from '../../appliance/farm.ts';
import type { VipLimits } from '../../collectors/collector.ts';

/** Several calls that belong together: a plan that only reads, then its steps. */
export interface Recipe {
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  /** The names of its values. */
  readonly parameters: Readonly<Record<string, 'required' | 'optional'>>;
  /** The files that it takes, by name. They may hold keys: a change with a file never waits. */
  readonly files?: Readonly<Record<string, RecipeFile>>;
  /** Only reads; rejects with an AdminError when there is nothing to do, or it cannot be done. */
  plan(context: RecipeContext): Promise<RecipePlan>;
}

/** A text file in PEM. */
export interface RecipeFile {
  readonly isRequired: boolean;
  /** True if its private key is sent; otherwise the client removes it. */
  readonly sendsKey: boolean;
}

export interface RecipeContext {
  readonly calls: Pick<RecipeCalls, 'appliance' | 'read' | 'readText' | 'dryRun' | 'parametersOf'>;
  readonly params: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Returns the farms as the exporter read them last; undefined where they are not known. */
  readonly knownFarms: () => readonly KnownFarm[] | undefined;
  /** The addresses that the exporter may connect to; undefined for an appliance that is gone. */
  readonly vipLimits: VipLimits | undefined;
  /** True if the collector `vip` connects to all farms. */
  readonly probesAllFarms: boolean;
  /** The time that a step may wait for its effect; each step has a default. */
  readonly waitMs: number | undefined;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, for waits. */
  readonly steadyNow: () => number;
  /** The time of the request: names made of it are the same when the change is planned again. */
  readonly askedAtMs: number;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Called with what the step waits for. */
  readonly progress: (line: string) => void;
}

export interface RecipePlan {
  /** Sentences about the present state. */
  readonly facts: readonly string[];
  readonly steps: readonly Step[];
  /** For a delivery, what it finds about each farm. */
  readonly targets?: readonly DeliveryTarget[];
}

export type DeliveryTarget = Readonly<Static<typeof TargetSchema>>;
export const TargetSchema = Type.Object({
  farm: Type.String(),
  result: Type.Enum(['would be delivered', 'has it already', 'other key type', 'other names']),
  detail: Type.String(),
  replaces: Type.Optional(Type.String({ description: 'The file of the certificate that goes.' })),
  covers: Type.Optional(
    Type.Immutable(
      Type.Array(Type.String(), {
        description: 'The names of a certificate that stays, where the new one has them all.',
      }),
    ),
  ),
  serves_old: Type.Optional(Type.Boolean({ description: 'True if a connection shows the certificate that went.' })),
});

export interface Step {
  /** The purpose of the step. */
  readonly title: string;
  /** The call that changes something, if any; the gateway does a dry run of it beforehand. */
  readonly write?: Write;
  /**
   * Resolves to a sentence about the result; rejects with an AdminError. Only `calls` has the approval
   * of the change, which a read with a side effect may need.
   */
  run(send: (write: Write) => Promise<void>, calls: Pick<RecipeCalls, 'read'>): Promise<string>;
  readonly undoCommand?: string;
  /** Undoes, after a failure, this step and those that share the rollback. */
  readonly rollback?: Rollback;
}

export interface Rollback {
  /** All calls that it may make; a plan shows them. */
  readonly writes: readonly Write[];
  /** Resolves to a sentence about the state after it; rejects with an AdminError. */
  run(context: RecipeContext, send: (write: Write) => Promise<void>): Promise<string>;
  /** Tells a person what to do if it fails. */
  readonly manualRemedy: string;
}

/** Returns a step that is one call, and says `done` after it. */
export function callStep({ done, ...step }: Omit<Step, 'run'> & { write: Write; done: string }): Step {
  return {
    ...step,
    async run(send) {
      await send(step.write);
      return done;
    },
  };
}

/** Each read starts a process on the appliance. */
const pollIntervalMs = 5_000;

interface Wait<Seen> {
  readonly read: () => Promise<Seen>;
  readonly isDone: (seen: Seen) => boolean;
  /** Returns true for a read that was not answered: the pause before the next ones doubles. */
  readonly backsOff?: (seen: Seen) => boolean;
  /** Describes what was read, for the person who waits. */
  readonly describe: (seen: Seen) => string;
  readonly withinMs: number;
  /** The advice for the end of the time. */
  readonly remedy: string;
}

/**
 * Reads at once and then every five seconds until `isDone`; rejects with an AdminError when the
 * time is over.
 */
export async function waitUntil<Seen>(
  { steadyNow, sleep, progress }: Pick<RecipeContext, 'steadyNow' | 'sleep' | 'progress'>,
  { read, isDone, backsOff = () => false, describe, withinMs, remedy }: Wait<Seen>,
): Promise<Seen> {
  const deadlineSteadyMs = steadyNow() + withinMs;
  let shown = '';
  let pauseMs = pollIntervalMs;
  for (;;) {
    const seen = await read();
    if (isDone(seen)) return seen;
    const description = describe(seen);
    if (steadyNow() >= deadlineSteadyMs)
      throw new AdminError('Timed out waiting', { detail: `${description}.`, remedy });
    if (description !== shown) progress(description);
    shown = description;
    await sleep(pauseMs);
    pauseMs = backsOff(seen) ? 2 * pauseMs : pollIntervalMs;
  }
}
