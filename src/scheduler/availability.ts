import { isOneOf } from '../lib/check.ts';
import type { CallReport } from '../appliance/client.ts';
import type { Validity } from '../appliance/connection.ts';
import type { FailingCalls } from '../state/status.ts';

/** The results of the calls so far; a poller that replaces another continues with it. */
export interface AvailabilityState {
  answeredAtElapsedMs: number | undefined;
  wasCalled: boolean;
  offsetSeconds: number | undefined;
  certificate?: Validity | undefined;
  /** Undefined when the newest call succeeded. */
  failing: FailingCalls | undefined;
}

interface AvailabilityParts {
  readonly before: AvailabilityState | undefined;
  /**
   * The time for which an authenticated response counts; late runs extend it, so that `zlb_up` does
   * not alternate.
   */
  readonly upForMs: () => number;
  /** False while calls fail, or wait far longer than calls do. */
  readonly callsSucceed: () => boolean;
  readonly now: () => number;
}

/**
 * Reasons of an appliance that works and lacks what was requested: not counted as a failure if the
 * response shows that the appliance accepted the key.
 */
const clientErrors = ['bad_request', 'not_found', 'method_not_allowed'] as const;

/** Tells from the calls to an appliance whether it is up, why not, and how far its clock is off. */
export class Availability {
  readonly state: AvailabilityState;
  readonly #parts: AvailabilityParts;

  constructor(parts: AvailabilityParts) {
    this.#parts = parts;
    this.state = {
      answeredAtElapsedMs: undefined,
      wasCalled: false,
      offsetSeconds: undefined,
      failing: undefined,
      ...parts.before,
    };
  }

  recordCall(
    { authenticated, clockOffsetSeconds, certificate, reason, triesNextPath }: CallReport,
    nowElapsedMs: number,
  ): void {
    // The response to the same call below the other path says whether the appliance answers.
    if (triesNextPath) return;
    // We gave it up: it says nothing of the appliance.
    if (reason !== 'cancelled') {
      const isFailing = reason !== undefined && !(authenticated && isOneOf(clientErrors, reason));
      this.state.failing = isFailing
        ? { reason, sinceMs: this.state.failing?.sinceMs ?? this.#parts.now() }
        : undefined;
    }
    this.state.wasCalled = true;
    if (authenticated) this.state.answeredAtElapsedMs = nowElapsedMs;
    if (clockOffsetSeconds !== undefined) this.state.offsetSeconds = clockOffsetSeconds;
    if (certificate) this.state.certificate = certificate;
  }

  /** Returns whether a recent response had the right key; undefined before the first call. */
  hasAnswered(nowElapsedMs: number): boolean | undefined {
    const { wasCalled, answeredAtElapsedMs } = this.state;
    return wasCalled
      ? answeredAtElapsedMs !== undefined && nowElapsedMs - answeredAtElapsedMs < this.#parts.upForMs()
      : undefined;
  }

  /** Returns the value of `zlb_up`: a recent response had the right key, and calls succeed now. */
  isUp(nowElapsedMs: number): boolean | undefined {
    return this.hasAnswered(nowElapsedMs) && this.#parts.callsSucceed();
  }

  /** Returns the seconds of its clock minus ours, while it is up. */
  clockOffsetSeconds(nowElapsedMs: number): number | undefined {
    return this.isUp(nowElapsedMs) ? this.state.offsetSeconds : undefined;
  }
}
