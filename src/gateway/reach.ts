import { Readable } from 'node:stream';
import type { ApplianceClient } from '../appliance/client.ts';
import { ApplianceError, messageOf, reasonOfTransportError } from '../appliance/errors.ts';
import type { Relay, RelayRequest } from '../appliance/relay.ts';
import { oneLine } from '../lib/text.ts';
import { AdminProblem, callerLeft } from './problem.ts';
import type { QueueSlot } from './request-queue.ts';

/**
 * Reaches an appliance for one caller. The signals that its methods take are the caller's: nothing
 * is sent once the caller has left. A sent call runs to its end, as it does on the appliance.
 */
export interface Reach {
  readonly relay: Pick<Relay, 'send' | 'urlOf'>;
  readonly client: Pick<ApplianceClient, 'read'>;
}

/** Reaches it in a slot, which is kept for longer than `timeoutMs`, the wait of the caller. */
export function createReach({ relay, client }: Reach, slot: QueueSlot, timeoutMs: number): Reach {
  const refuseGone = (caller: AbortSignal): void => {
    if (caller.aborted || slot.signal.aborted) throw callerLeft();
  };
  return {
    relay: {
      urlOf: (path) => relay.urlOf(path),
      async send(request) {
        refuseGone(request.signal);
        const exchange = relay.send({ ...request, signal: slot.signal });
        slot.keepFor(exchange);
        return await inTime(exchange, { path: request.path, timeoutMs, dispose: ({ body }) => discard(body) });
      },
    },
    client: {
      async read(key, params, signal) {
        refuseGone(signal);
        return await client.read(key, params, slot.signal);
      },
    },
  };
}

interface Limit<Result> {
  readonly path: string;
  readonly timeoutMs: number;
  /** Resolves when the time begins; default: at once. */
  readonly from?: Promise<unknown>;
  /** Called with a result after the limit. */
  readonly dispose: (late: Result) => void;
}

/**
 * Resolves to the result of an exchange, or rejects with `timeout` after the limit. The exchange
 * continues.
 */
export async function inTime<Result>(exchange: Promise<Result>, limit: Limit<Result>): Promise<Result> {
  const { path, timeoutMs, from, dispose } = limit;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const late = new Promise<never>((_, reject) => {
    const begin = (): void => {
      if (!isOver) timer = setTimeout(() => reject(timeout(path, timeoutMs)), timeoutMs);
    };
    if (from) void from.then(begin, begin);
    else begin();
  });
  try {
    return await Promise.race([exchange, late]);
  } catch (error) {
    void exchange.then(dispose, () => undefined);
    throw error;
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

function timeout(path: string, timeoutMs: number): ApplianceError {
  return new ApplianceError('timeout', { endpoint: path, message: `no answer within ${timeoutMs / 1_000} s` });
}

/** Destroys an unread body, which would hold its connection. */
export function discard(body: unknown): void {
  if (body instanceof Readable) body.destroy();
}

/** An answer that the gateway reads itself. */
interface BufferedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Sends a request and reads its answer up to a limit. Rejects with an {@link ApplianceError},
 * `oversize` for a longer one.
 */
export async function readAnswer(
  relay: Pick<Relay, 'send'>,
  request: RelayRequest,
  maxBytes: number,
): Promise<BufferedAnswer> {
  const { status, headers, body } = await relay.send(request);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
      size += (chunk as Buffer).length;
      if (size > maxBytes) break;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw bodyError(error, request, status);
  }
  if (size <= maxBytes) return { status, headers, text: Buffer.concat(chunks).toString() };
  const message = `the answer is longer than ${maxBytes} bytes`;
  throw new ApplianceError('oversize', { endpoint: request.path, message, status });
}

/** Converts the failure of an answer that had begun; returns an error with a reason unchanged. */
export function bodyError(
  error: unknown,
  { path, signal }: Pick<RelayRequest, 'path' | 'signal'>,
  status: number,
): ApplianceError | AdminProblem {
  if (error instanceof ApplianceError || error instanceof AdminProblem) return error;
  const reason = reasonOfTransportError(error, signal.aborted ? 'caller' : 'nobody');
  return new ApplianceError(reason, { endpoint: path, message: oneLine(messageOf(error), 250), status });
}
