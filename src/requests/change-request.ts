import type { EndpointKey } from '../appliance/api/table.ts';
import type { Preview } from '../recipes/preview.ts';

/**
 * A request begins as `proposed` (by an alert) or `pending` (by a person or the policy). The
 * states after that:
 *
 * - `approved`: on disk; nothing was sent yet
 * - `executing`: its calls are under way
 * - `done`, `failed`: what happened is known
 * - `uncertain`: a call was sent, and its outcome is not known
 * - `denied`, `cancelled`, `expired`, `withdrawn`: nothing was sent
 */
export const requestStates = [
  'proposed',
  'pending',
  'approved',
  'executing',
  'done',
  'failed',
  'uncertain',
  'denied',
  'cancelled',
  'expired',
  'withdrawn',
] as const;
export type RequestState = (typeof requestStates)[number];

/** The states that may follow each state; those without any are final. */
export const nextStates: Readonly<Record<RequestState, readonly RequestState[]>> = {
  proposed: ['approved', 'denied', 'cancelled', 'expired', 'withdrawn'],
  pending: ['approved', 'denied', 'cancelled', 'expired'],
  approved: ['executing', 'failed'],
  executing: ['done', 'failed', 'uncertain'],
  done: [],
  failed: [],
  uncertain: [],
  denied: [],
  cancelled: [],
  expired: [],
  withdrawn: [],
};

/** The states of a request that is not over. */
export const openStates = requestStates.filter((state) => nextStates[state].length > 0);

export function isOver(state: RequestState): boolean {
  return nextStates[state].length === 0;
}

/** Returns true while a person can still decide on it. */
export function isWaiting(state: RequestState): boolean {
  return nextStates[state].includes('approved');
}

/** A change that somebody asked for, as people and programs see it. */
export interface ChangeRequest {
  readonly id: string;
  readonly state: RequestState;
  readonly appliance: string;
  /** The operation or recipe with its parameters. */
  readonly title: string;
  readonly operation?: EndpointKey;
  readonly recipe?: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly force: boolean;
  /** The name of a token. */
  readonly requested_by: string;
  readonly reason: string | null;
  readonly alert: AlertSource | null;
  /** ISO 8601, UTC, as all times here. */
  readonly created: string;
  readonly expires: string;
  /** SHA-256 of the plan, in lower-case hex. */
  readonly digest: string;
  readonly plan: ChangePlan;
  readonly decision: Decision | null;
  readonly outcome: Outcome | null;
}

/** The alert that proposed a request. */
export interface AlertSource {
  readonly name: string;
  readonly summary: string | null;
  readonly since: string;
}

/** The calls that would be made, without secrets. */
export interface ChangePlan {
  /** Sentences about the present state. */
  readonly facts: readonly string[];
  readonly steps: readonly PlannedStep[];
}

export interface PlannedStep extends Pick<Preview, 'findings' | 'because' | 'current'> {
  readonly title: string;
  /** Null for a step that only reads or waits. */
  readonly call: PlannedCall | null;
}

export interface PlannedCall {
  readonly operation: string;
  readonly risk: string;
  readonly method: string;
  readonly url: string;
  /** With secrets masked. */
  readonly body: unknown;
}

export interface Decision {
  /** The name of a token, or `-` for the exporter itself. */
  readonly by: string;
  readonly what: 'approved' | 'denied' | 'cancelled' | 'withdrawn' | 'expired';
  readonly reason: string | null;
  readonly at: string;
}

export interface Outcome {
  readonly at: string;
  /** A sentence for each step. */
  readonly lines: readonly string[];
  /** The code of the gateway's refusal, if that ended it. */
  readonly code: string | null;
}

/** The parts of an open request that nobody is shown, and that are deleted when it is over. */
export interface SealedParts {
  /** The person who asked for it. */
  readonly person: string;
  /** Key of the digests of bodies: a body may hold a password that could be guessed. */
  readonly salt: string;
  readonly content?: { readonly type: string; readonly base64: string };
}
