import { Readable } from 'node:stream';
import type { ApplianceClient } from '../../appliance/client.ts';
import { ApplianceError, messageOf, reasonOfTransportError } from '../../appliance/errors.ts';
import type { Relay, RelayResponse, RelayRequest } from '../../appliance/relay.ts';
import { readWhole } from '../../lib/growing-buffer.ts';
import { oneLine } from '../../lib/text.ts';
import { inTime } from '../../lib/time.ts';
import type { GuardContext, GuardRead } from '../policy/guards/guard.ts';
import { AdminProblem, callerLeft } from '../policy/problem.ts';
import type { QueueSlot } from './request-queue.ts';

/** The connections of the gateway to one appliance, with the key for changes. */
export interface AdminAppliance {
  readonly name: string;
  readonly relay: Relay;
  readonly client: ApplianceClient;
  readonly knownFarms: GuardContext['knownFarms'];
}

type SessionRequest = Omit<RelayRequest, 'signal'>;

/**
 * Calls an appliance for one caller, while its request holds a slot of the queue. Nothing is sent once
 * the caller has left; a sent call runs to its end, as it does on the appliance.
 */
export type ApplianceSession = ReturnType<typeof createSession>;

interface SessionParts {
  readonly appliance: AdminAppliance;
  /** Held until the appliance has answered, which may take longer than `timeoutMs`. */
  readonly slot: QueueSlot;
  /** Maximum wait of the caller. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export function createSession({ appliance, slot, timeoutMs, signal }: SessionParts) {
  const { relay, client, knownFarms } = appliance;
  /** Throws an {@link AdminProblem} if the caller has left, or the gateway closes. */
  const assertCallerPresent = (): void => {
    if (signal.aborted || slot.signal.aborted) throw callerLeft();
  };
  const read: GuardRead = async (key, params, limitMs) => {
    assertCallerPresent();
    return await client.read(key, params, slot.signal, { limitMs });
  };
  return {
    appliance,
    slot,
    signal,
    assertCallerPresent,
    knownFarms,
    read,
    async send(request: SessionRequest): Promise<RelayResponse> {
      assertCallerPresent();
      const abortable = abortableRead(slot.signal, request.method === 'GET');
      const exchange = relay.send({ ...request, signal: abortable.signal });
      slot.extendUntil(exchange);
      return await withResponseTimeout(exchange, request.path, timeoutMs).catch((error: unknown) => {
        discardLate(exchange);
        abortable.end();
        throw error;
      });
    },
  };
}

/**
 * Returns a signal, and a function that aborts it if it is that of a read: once the caller of a read
 * has an answer, the read holds no slot. A write runs to its end, as it does on the appliance.
 */
export function abortableRead(signal: AbortSignal, isRead: boolean) {
  if (!isRead) return { signal, end: () => undefined };
  const ending = new AbortController();
  return { signal: AbortSignal.any([signal, ending.signal]), end: () => ending.abort() };
}

/** Resolves like the exchange, or rejects with `timeout`. The exchange continues. */
export function withResponseTimeout<Value>(exchange: Promise<Value>, path: string, timeoutMs: number): Promise<Value> {
  const message = `no answer within ${timeoutMs / 1_000} s`;
  return inTime(exchange, timeoutMs, () => new ApplianceError('timeout', { endpoint: path, message }));
}

/** Destroys the body of a response that nobody waits for any more, when it comes. */
export function discardLate(exchange: Promise<{ readonly body: unknown }>): void {
  void exchange.then(
    ({ body }) => discard(body),
    () => undefined,
  );
}

/** Destroys an unread body, which would hold its connection. */
export function discard(body: unknown): void {
  if (body instanceof Readable) body.destroy();
}

/**
 * Sends a request and reads its response up to a limit. Rejects with an {@link ApplianceError},
 * `oversize` for a longer one.
 */
export async function readResponse(
  { send, signal }: Pick<ApplianceSession, 'send' | 'signal'>,
  request: SessionRequest,
  maxBytes: number,
): Promise<Omit<RelayResponse, 'body'> & { readonly text: string }> {
  const { path } = request;
  const { status, headers, body } = await send(request);
  try {
    return { status, headers, text: (await readResponseBody({ status, body }, path, maxBytes)).toString() };
  } catch (error) {
    throw toBodyError(error, { path, signal }, status);
  }
}

/** Reads a response to its end. Rejects with `oversize` if it is longer than `maxBytes`. */
export async function readResponseBody(
  { status, body }: Pick<RelayResponse, 'status' | 'body'>,
  path: string,
  maxBytes: number,
): Promise<Buffer> {
  const tooLong = (): ApplianceError =>
    new ApplianceError('oversize', {
      endpoint: path,
      message: `the answer is longer than ${maxBytes} bytes, or has too many parts`,
      status,
    });
  if (!Buffer.isBuffer(body)) return await readWhole(body, maxBytes, tooLong);
  if (body.length > maxBytes) throw tooLong();
  return body;
}

/** Converts the failure of a response that had begun; returns an error with a reason unchanged. */
export function toBodyError(
  error: unknown,
  { path, signal }: Pick<RelayRequest, 'path' | 'signal'>,
  status: number,
): ApplianceError | AdminProblem {
  if (error instanceof ApplianceError || error instanceof AdminProblem) return error;
  const reason = reasonOfTransportError(error, signal.aborted ? 'caller' : 'nobody');
  return new ApplianceError(reason, { endpoint: path, message: oneLine(messageOf(error), 250), status });
}
