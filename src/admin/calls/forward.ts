import { addAbortSignal, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ApplianceError } from '../../appliance/errors.ts';
import type { Relay, RelayResponse } from '../../appliance/relay.ts';
import { steadyNow } from '../../lib/time.ts';
import { type FreezeSwitch, frozenProblem } from '../policy/freeze.ts';
import {
  AdminProblem,
  callerLeft,
  type Effect,
  neverChanged,
  refuseResponse,
  repeatWithCare,
  upstreamProblem,
} from '../policy/problem.ts';
import { type BodyMemory, minBytesPerSecond } from './body-memory.ts';
import { responseInTime, bodyError, discard, discardLate, withEnd } from './session.ts';
import type { EventFields } from './recorder.ts';
import { isChange } from '../policy/policy.ts';
import type { AdminResponse, AdminCall } from './admin-call.ts';
import type { QueueSlot } from './request-queue.ts';

export interface Forwarding {
  readonly appliance: { readonly name: string; readonly relay: Pick<Relay, 'send'> };
  /** Its signal aborts when the caller leaves; this ends only the transfer of the response. */
  readonly call: Pick<AdminCall, 'signal' | 'target' | 'body' | 'stage'> & {
    readonly principal: { readonly name: string };
  };
  /** Held until the exchange is over, even if the caller has left. */
  readonly slot: QueueSlot;
  /** Holds long responses until their callers have read them. */
  readonly memory: BodyMemory;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** Maximum time until the response begins. */
  readonly timeoutMs: number;
  /** Called right before the call is sent, to check it again. Throws an {@link AdminProblem}. */
  readonly beforeSending: () => void;
  /** Called once, when the response has ended or failed; the caller's last byte waits for it. */
  readonly onOver: (outcome: EventFields) => Promise<void>;
}

/** A caller may read nothing for this time, and must keep the minimum rate afterwards. */
const readerGraceMs = 20_000;

/**
 * Sends one call, once. Rejects with an {@link AdminProblem}, also if a response breaks off before
 * it was forwarded.
 */
export async function forward(parts: Forwarding): Promise<AdminResponse> {
  const { appliance, call, slot, timeoutMs } = parts;
  const { target, body } = call;
  const { operation, path } = target;
  const tooSlow = () =>
    new ApplianceError('timeout', { endpoint: path, message: 'the appliance took the file too slowly' });
  const upload = body && {
    contentType: body.contentType,
    contentLength: body.contentLength,
    body: body.content({ graceMs: timeoutMs, tooSlow }),
  };
  const content = upload?.body;
  if (content instanceof Readable) cutWhenFrozen(content, parts.freeze);
  let isLate = false;
  const outcome = createOutcome(parts);
  slot.keepFor(outcome.reported);
  const effect = (): Effect => {
    if (call.stage !== 'sent') return 'unsent';
    return isChange(target) ? 'perhaps' : 'none';
  };
  const given = withEnd(slot.signal, !isChange(target));
  const responded = appliance.relay.send({
    ...upload,
    method: operation.method,
    path,
    signal: given.signal,
    beforeSending() {
      parts.beforeSending();
      // The caller got "no response": nothing may be sent after that.
      if (isLate) throw callerLeft();
      call.stage = 'sent';
    },
  });
  const exchange = finish({ parts, answered: responded, outcome, content, effect });
  const begun = responded.then(
    () => undefined,
    () => undefined,
  );
  try {
    // The time of an upload does not count.
    if (content instanceof Readable) await Promise.race([begun, finished(content).catch(() => undefined)]);
    await responseInTime(begun, path, timeoutMs);
  } catch (error) {
    isLate = true;
    discardLate(exchange);
    given.end();
    throw upstreamProblem(error, appliance.name, effect());
  }
  const response = await exchange;
  if (response.body instanceof Readable) addAbortSignal(call.signal, response.body);
  return response;
}

interface SentCall {
  readonly parts: Forwarding;
  readonly answered: Promise<RelayResponse>;
  readonly outcome: ReturnType<typeof createOutcome>;
  readonly content: Buffer | Readable | undefined;
  /** Returns what the call has done if it fails now. */
  readonly effect: () => Effect;
}

/** Follows an exchange to its end and reports its outcome, even if the caller has left. */
async function finish({ parts, answered, outcome, content, effect }: SentCall): Promise<AdminResponse> {
  const { name } = parts.appliance;
  try {
    const response = await answered;
    const { status, headers, body } = response;
    refuseResponse(status, name);
    if (!Buffer.isBuffer(body)) return { status, headers, body: await holdResponse(parts, outcome, response, body) };
    await outcome.report({ status, received_bytes: body.length });
    return { status, headers, body };
  } catch (error) {
    discardLate(answered);
    const problem = upstreamProblem(causeOf(error, content), name, effect());
    await outcome.report(outcomeOf(problem, effect()));
    throw problem;
  } finally {
    // The appliance did not read the whole upload.
    discard(content);
  }
}

/** Returns our own reason for an upload that we cut, instead of the error of the connection. */
function causeOf(error: unknown, content: SentCall['content']): unknown {
  const cut = content instanceof Readable && !(error instanceof AdminProblem) ? content.errored : undefined;
  return cut instanceof AdminProblem || cut instanceof ApplianceError ? cut : error;
}

/**
 * Receives a long response into memory at the pace of the appliance, so that a slow caller does not
 * keep the slot, and one that breaks off is a refusal. One that is too long for that is passed on
 * while it comes; it keeps the slot, and may break off.
 */
async function holdResponse(
  parts: Forwarding,
  outcome: SentCall['outcome'],
  { status, headers }: RelayResponse,
  source: Readable,
): Promise<Readable> {
  const { path } = parts.call.target;
  const cameTooSlowly = () =>
    new ApplianceError('timeout', { endpoint: path, message: 'the answer came too slowly', status });
  try {
    const body = await parts.memory.receive({
      principal: parts.call.principal.name,
      source,
      length: Number(headers['content-length'] ?? 0),
      signal: parts.slot.signal,
      pace: { graceMs: parts.timeoutMs, tooSlow: cameTooSlowly },
      async onEnd(bytes, failure) {
        if (failure) discard(source);
        const code = failure ? { code: responseProblem(failure, parts, status).code } : {};
        await outcome.report({ status, received_bytes: bytes, ...code });
      },
    });
    // A body that is not whole may also be empty because the appliance is slow.
    const tooSlow = () => (body.readableLength > 0 ? readTooSlowly() : cameTooSlowly());
    return body.watch({ graceMs: readerGraceMs, tooSlow });
  } catch (error) {
    discard(source);
    const problem = responseProblem(error, parts, status);
    await outcome.report({ status, code: problem.code });
    throw problem;
  }
}

/** Reports the outcome of a call, once. */
function createOutcome({ call, onOver }: Pick<Forwarding, 'call' | 'onOver'>) {
  const startedAt = steadyNow();
  const reported = Promise.withResolvers<void>();
  let reporting: Promise<void> | undefined;

  async function reportOnce(outcome: Partial<EventFields>): Promise<void> {
    const durationMs = Math.round(steadyNow() - startedAt);
    try {
      const sent = call.stage === 'sent' ? call.body?.sent() : undefined;
      await onOver({ event: 'outcome', duration_ms: durationMs, ...sent, ...outcome });
    } finally {
      reported.resolve();
    }
  }

  return {
    reported: reported.promise,
    report: (outcome: Partial<EventFields>): Promise<void> => (reporting ??= reportOnce(outcome)),
  };
}

function outcomeOf({ code, status }: AdminProblem, effect: Effect): Partial<EventFields> {
  return { code, status, ...(effect === 'perhaps' && !neverChanged(code) ? { uncertain: true as const } : {}) };
}

/** Aborts an upload when all changes are frozen; one that was sent whole continues. */
function cutWhenFrozen(content: Readable, freeze: Forwarding['freeze']): void {
  const { signal } = freeze;
  const cut = (): void => {
    const outcome = 'The upload was cut while it was being sent: the appliance may have a part of it.';
    if (freeze.state) content.destroy(frozenProblem(freeze.state, outcome));
  };
  signal.addEventListener('abort', cut, { once: true });
  content.once('close', () => signal.removeEventListener('abort', cut));
}

/** Returns the problem for a response that cannot be forwarded to the caller. */
function responseProblem(
  error: unknown,
  { appliance, call: { target }, slot }: Forwarding,
  answered: number,
): AdminProblem {
  const effect = isChange(target) ? 'perhaps' : 'none';
  const failure = bodyError(error, { path: target.path, signal: slot.signal }, answered);
  const { code, headers, message, remedy } = upstreamProblem(failure, appliance.name, effect);
  return new AdminProblem(code, {
    detail: `${appliance.name} answered ${answered}, and the answer could not be passed on. ${message}`,
    remedy: failure instanceof AdminProblem && effect === 'perhaps' ? `${repeatWithCare} ${remedy}` : remedy,
    headers,
    cause: error,
  });
}

function readTooSlowly(): AdminProblem {
  return new AdminProblem('caller_left', {
    detail: `The caller reads less than ${minBytesPerSecond} bytes a second.`,
  });
}
