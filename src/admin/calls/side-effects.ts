import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { isSafeFarm } from '../../appliance/safe-farm-name.ts';
import type { OperationCall } from '../policy/operation.ts';
import { AdminProblem, upstreamProblem } from '../policy/problem.ts';
import type { ApplianceSession } from './session.ts';
import type { EventFields } from './recorder.ts';
import type { AdminCall } from './admin-call.ts';

/** Failures that the read itself would have as well. */
const sharedFailures: readonly FailureReason[] = [
  'timeout',
  'gateway_timeout',
  'connect',
  'tls',
  'cancelled',
  'unauthorized',
];

/**
 * Detects whether a read has its side effect on this farm (docs/api.md §1.7), with a call that only
 * reads files. Rejects with an {@link AdminProblem}.
 */
export async function hasSideEffectNow(
  { operation: { row }, params }: OperationCall,
  { read, appliance }: Pick<ApplianceSession, 'read' | 'appliance'>,
): Promise<boolean> {
  if (row.readSideEffect?.on !== 'l4xnat') return false;
  try {
    return !isSafeFarm(await read('readFarmsSummary', {}), params.farmname ?? '');
  } catch (error) {
    if (error instanceof ApplianceError && !sharedFailures.includes(error.reason)) return true;
    throw upstreamProblem(error, appliance.name, 'read');
  }
}

/** Callers choose the names of farms; an appliance has fewer L4 farms. */
const maxUnanswered = 1_000;

/** The reads with a side effect that were not answered: each further one leaves a process. */
export class UnansweredReads {
  readonly #writeCountOf: (appliance: string) => number;
  /** The count of writes then, by appliance and farm. */
  readonly #unanswered = new Map<string, number>();

  constructor(writeCountOf: (appliance: string) => number) {
    this.#writeCountOf = writeCountOf;
  }

  record({ appliance, target: { hasSideEffect, params } }: AdminCall, { status, code }: EventFields): void {
    if (!hasSideEffect || (status !== 504 && code !== 'upstream_timeout')) return;
    const key = `${appliance} ${params.farmname}`;
    this.#unanswered.delete(key);
    this.#unanswered.set(key, this.#writeCountOf(appliance));
    const [oldest] = this.#unanswered.keys();
    if (this.#unanswered.size > maxUnanswered && oldest !== undefined) this.#unanswered.delete(oldest);
  }

  /** Throws an {@link AdminProblem} for a farm whose last read was not answered, unless a write came since. */
  assertAnswered({ appliance, force, target: { params } }: AdminCall): void {
    const { farmname } = params;
    if (force || this.#unanswered.get(`${appliance} ${farmname}`) !== this.#writeCountOf(appliance)) return;
    throw new AdminProblem('guarded', {
      detail: `The last read of this kind for ${farmname} was not answered: its daemon may hang; each further call leaves a process on the appliance. Nothing was sent.`,
      remedyValue: `Look at nftlb on ${appliance}. It may be read again after a change.`,
    });
  }
}
