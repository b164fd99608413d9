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
  assertForwardable,
  repeatWithCare,
  upstreamProblem,
} from '../policy/problem.ts';
import { type BodyMemory, minBytesPerSecond } from './body-memory.ts';
import { withResponseTimeout, toBodyError, discard, discardLate, abortableRead } from './session.ts';
import type { EventFields } from './recorder.ts';
import { isWrite } from '../policy/policy.ts';
import type { AdminCall } from './admin-call.ts';
import type { QueueSlot } from './request-queue.ts';

export interface ForwardOptions {
  readonly appliance: { readonly name: string; readonly relay: Pick<Relay, 'send'> };
  /** Its signal aborts when the caller leaves; this ends only the transfer of the response. */
  readonly call: Pick<AdminCall, 'signal' | 'target' | 'body' | 'stage'> & {
    readonly principal: { readonly name: string };
  };
  /** Held until the exchange is over, even if the caller has left. */
  readonly slot: QueueSlot;
  /** Buffers long responses until their callers have read them. */
  readonly memory: BodyMemory;
  readonly freeze: Pick<FreezeSwitch, 'state' | 'signal'>;
  /** Maximum time until the response begins. */
  readonly timeoutMs: number;
  /** Called right before the call is sent, to check it again. Throws an {@link AdminProblem}. */
  readonly beforeSending: () => void;
  /** Called once, when the response has ended or failed; the caller's last byte waits for it. */
  readonly onOutcome: (outcome: EventFields) => Promise<void>;
}

/** A caller may read nothing for this time, and must keep the minimum rate afterwards. */
const readerGraceMs = 20_000;

/**
 * Sends one call, once. Rejects with an {@link AdminProblem}, also if a response breaks off before
 * it was forwarded.
 */
export async function forward(options: ForwardOptions): Promise<RelayResponse> {
  const { appliance, call, slot, timeoutMs } = options;
  const { operation, path } = call.target;
  const upload = uploadOf(options);
  const outcome = createOutcomeReporter(options);
  slot.extendUntil(outcome.reported);
  const abortable = abortableRead(slot.signal, !isWrite(call.target));
  let isGivenUp = false;
  const response = appliance.relay.send({
    ...upload,
    method: operation.method,
    path,
    signal: abortable.signal,
    beforeSending() {
      options.beforeSending();
      // The caller got "no response": nothing may be sent after that.
      if (isGivenUp) throw callerLeft();
      call.stage = 'sent';
    },
  });
  // It goes on when the caller has got "no response", or has left.
  const received = receiveResponse({ options, upload: upload?.body, response, outcome });
  try {
    await waitForHeaders(response, upload?.body, { path, timeoutMs });
  } catch (error) {
    isGivenUp = true;
    discardLate(received);
    abortable.end();
    throw upstreamProblem(error, appliance.name, effectOf(call));
  }
  const completed = await received;
  if (completed.body instanceof Readable) addAbortSignal(call.signal, completed.body);
  return completed;
}

function uploadOf({ call: { target, body }, freeze, timeoutMs }: ForwardOptions) {
  if (!body) return undefined;
  const tooSlow = () =>
    new ApplianceError('timeout', { endpoint: target.path, message: 'the appliance took the file too slowly' });
  const { contentType, contentLength } = body;
  const upload = { contentType, contentLength, body: body.content({ graceMs: timeoutMs, tooSlow }) };
  if (upload.body instanceof Readable) abortWhenFrozen(upload.body, freeze);
  return upload;
}

/** Resolves when the headers have come, or the call has failed. Rejects with `timeout`. */
async function waitForHeaders(
  response: Promise<RelayResponse>,
  upload: Buffer | Readable | undefined,
  { path, timeoutMs }: { readonly path: string; readonly timeoutMs: number },
): Promise<void> {
  const settled = response.then(
    () => undefined,
    () => undefined,
  );
  // The time of an upload does not count.
  if (upload instanceof Readable) await Promise.race([settled, finished(upload).catch(() => undefined)]);
  await withResponseTimeout(settled, path, timeoutMs);
}

interface Exchange {
  readonly options: ForwardOptions;
  readonly upload: Buffer | Readable | undefined;
  readonly response: Promise<RelayResponse>;
  readonly outcome: ReturnType<typeof createOutcomeReporter>;
}

function effectOf({ stage, target }: ForwardOptions['call']): Effect {
  if (stage !== 'sent') return 'unsent';
  return isWrite(target) ? 'perhaps' : 'read';
}

/** Receives the response to its end and reports the outcome, even if the caller has left. */
async function receiveResponse(exchange: Exchange): Promise<RelayResponse> {
  const { options, upload, outcome } = exchange;
  const { name } = options.appliance;
  try {
    const response = await exchange.response;
    const { status, headers, body } = response;
    assertForwardable(status, name);
    if (!Buffer.isBuffer(body)) return { status, headers, body: await bufferBody(exchange, response, body) };
    await outcome.report({ status, received_bytes: body.length });
    return { status, headers, body };
  } catch (error) {
    discardLate(exchange.response);
    const effect = effectOf(options.call);
    const problem = upstreamProblem(uploadErrorOr(error, upload), name, effect);
    await outcome.report(failedOutcome(problem, effect));
    throw problem;
  } finally {
    // The appliance did not read the whole upload.
    discard(upload);
  }
}

/** Returns our own reason for an upload that we cut, instead of the error of the connection. */
function uploadErrorOr(error: unknown, upload: Exchange['upload']): unknown {
  const cut = upload instanceof Readable && !(error instanceof AdminProblem) ? upload.errored : undefined;
  return cut instanceof AdminProblem || cut instanceof ApplianceError ? cut : error;
}

/**
 * Buffers a long response at the pace of the appliance, so that a slow caller does not keep the slot,
 * and one that breaks off is refused. One that is too long for the buffer is streamed to the caller;
 * it keeps the slot, and may break off.
 */
async function bufferBody(
  { options, outcome }: Exchange,
  { status, headers }: RelayResponse,
  source: Readable,
): Promise<Readable> {
  const { path } = options.call.target;
  const applianceTooSlow = () =>
    new ApplianceError('timeout', { endpoint: path, message: 'the answer came too slowly', status });
  try {
    const body = await options.memory.receive({
      principal: options.call.principal.name,
      source,
      length: Number(headers['content-length'] ?? 0),
      signal: options.slot.signal,
      pace: { graceMs: options.timeoutMs, tooSlow: applianceTooSlow },
      async onEnd(bytes, failure) {
        if (failure) discard(source);
        const code = failure ? { code: responseProblem(failure, options, status).code } : {};
        await outcome.report({ status, received_bytes: bytes, ...code });
      },
    });
    // A body that is not whole may also be empty because the appliance is slow.
    const tooSlow = () => (body.readableLength > 0 ? callerTooSlow() : applianceTooSlow());
    return body.watch({ graceMs: readerGraceMs, tooSlow });
  } catch (error) {
    discard(source);
    const problem = responseProblem(error, options, status);
    await outcome.report({ status, code: problem.code });
    throw problem;
  }
}

/** Reports the outcome of a call, once. */
function createOutcomeReporter({ call, onOutcome }: Pick<ForwardOptions, 'call' | 'onOutcome'>) {
  const startSteadyMs = steadyNow();
  const reported = Promise.withResolvers<void>();
  let reporting: Promise<void> | undefined;

  async function reportOnce(outcome: Partial<EventFields>): Promise<void> {
    const durationMs = Math.round(steadyNow() - startSteadyMs);
    try {
      const sent = call.stage === 'sent' ? call.body?.sent() : undefined;
      await onOutcome({ event: 'outcome', duration_ms: durationMs, ...sent, ...outcome });
    } finally {
      reported.resolve();
    }
  }

  return {
    /** Resolves when the outcome is reported, or that failed. */
    reported: reported.promise,
    report: (outcome: Partial<EventFields>): Promise<void> => (reporting ??= reportOnce(outcome)),
  };
}

function failedOutcome({ code, status }: AdminProblem, effect: Effect): Partial<EventFields> {
  return { code, status, ...(effect === 'perhaps' && !neverChanged(code) ? { uncertain: true as const } : {}) };
}

/** Aborts an upload when all changes are frozen; one that was sent whole continues. */
function abortWhenFrozen(upload: Readable, freeze: ForwardOptions['freeze']): void {
  const { signal } = freeze;
  const cut = (): void => {
    const outcome = 'The upload was cut while it was being sent: the appliance may have a part of it.';
    if (freeze.state) upload.destroy(frozenProblem(freeze.state, outcome));
  };
  signal.addEventListener('abort', cut, { once: true });
  upload.once('close', () => signal.removeEventListener('abort', cut));
}

/** Returns the problem for a response that cannot be forwarded to the caller. */
function responseProblem(
  error: unknown,
  { appliance, call: { target }, slot }: ForwardOptions,
  status: number,
): AdminProblem {
  const effect = isWrite(target) ? 'perhaps' : 'read';
  const failure = toBodyError(error, { path: target.path, signal: slot.signal }, status);
  const { code, headers, message, remedy } = upstreamProblem(failure, appliance.name, effect);
  return new AdminProblem(code, {
    detail: `${appliance.name} answered ${status}, and the response could not be forwarded. ${message}`,
    remedy: failure instanceof AdminProblem && effect === 'perhaps' ? `${repeatWithCare} ${remedy}` : remedy,
    headers,
    cause: error,
  });
}

function callerTooSlow(): AdminProblem {
  return new AdminProblem('caller_left', {
    detail: `The caller reads less than ${minBytesPerSecond} bytes a second.`,
  });
}
