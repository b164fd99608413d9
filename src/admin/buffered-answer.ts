import { ApplianceError } from '../appliance/errors.ts';
import { messageOf, reasonOfTransportError } from '../appliance/failure.ts';
import type { Relay, RelayRequest } from '../appliance/relay.ts';
import { oneLine } from '../lib/text.ts';
import { AdminProblem } from './problem.ts';

/** An answer that the gateway reads itself. */
export interface BufferedAnswer {
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
