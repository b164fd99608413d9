import { addAbortSignal, pipeline, Readable, Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import { callbackify } from 'node:util';
import type { Relay } from '../appliance/relay.ts';
import { steadyNow } from '../lib/steady-now.ts';
import type { OperationCall } from './operation.ts';
import type { AdminProblem } from './problem.ts';
import { discard, inTime } from './reach.ts';
import type { Particulars } from './recorder.ts';
import { changes } from './refusals.ts';
import type { AdminAnswer } from './request.ts';
import type { RequestBody } from './request-body.ts';
import type { Place } from './request-queue.ts';
import { refuseAnswer, upstreamProblem } from './upstream-problem.ts';

export interface Forwarding {
  readonly appliance: string;
  readonly relay: Pick<Relay, 'send'>;
  readonly call: OperationCall;
  readonly body: RequestBody | undefined;
  /** Kept until the exchange is over, whether the caller waits for its end or not. */
  readonly place: Place;
  /** How long the caller waits for the answer. */
  readonly timeoutMs: number;
  /** Aborts when the caller leaves, which ends nothing but the passing on of the answer. */
  readonly signal: AbortSignal;
  /** Called once, when the last byte has come or nothing more will; the caller's last byte waits for it. */
  readonly onOver: (outcome: Particulars) => Promise<void>;
}

/** Sends one call, once, and passes the answer on as it comes. Rejects with an {@link AdminProblem}. */
export async function forward(parts: Forwarding): Promise<AdminAnswer> {
  const { appliance, relay, call, body, place, timeoutMs, signal, onOver } = parts;
  const { operation, path } = call;
  const startedAt = steadyNow();
  const isChange = changes(operation.row.risk);
  const over = Promise.withResolvers<void>();
  place.keepFor(over.promise);
  const content = body?.content();
  const exchange = carryOut();
  try {
    return await inTime(exchange, {
      path,
      timeoutMs,
      // A file takes the time that it takes to go up.
      ...(content instanceof Readable ? { from: finished(content) } : {}),
      dispose: (late) => discard(late.body),
    });
  } catch (error) {
    throw upstreamProblem(error, appliance, isChange);
  }

  async function carryOut(): Promise<AdminAnswer> {
    try {
      const answer = await relay.send({
        method: operation.method,
        path,
        signal: place.signal,
        ...(body && content !== undefined
          ? { contentType: body.contentType, body: content, contentLength: body.contentLength }
          : {}),
      });
      const { status, headers } = answer;
      refuse(status, answer.body);
      const end = (bytes: number) => tell({ event: 'outcome', status, ...sent(), received_bytes: bytes });
      if (!Buffer.isBuffer(answer.body)) {
        return { status, headers, body: addAbortSignal(signal, counting(answer.body, end)) };
      }
      await end(answer.body.length);
      return { status, headers, body: answer.body };
    } catch (error) {
      const problem = body?.problem() ?? upstreamProblem(error, appliance, isChange);
      await tell({ event: 'outcome', ...sent(), ...outcomeOf(problem, isChange) });
      throw problem;
    }
  }

  async function tell(outcome: Particulars): Promise<void> {
    try {
      await onOver(outcome);
    } finally {
      over.resolve();
    }
  }

  function sent() {
    const { bytes, sha256 } = body?.sent() ?? {};
    return {
      duration_ms: Math.round(steadyNow() - startedAt),
      ...(bytes === undefined ? {} : { sent_bytes: bytes }),
      ...(sha256 === undefined ? {} : { sent_sha256: sha256 }),
    };
  }

  function refuse(status: number, answerBody: Buffer | Readable): void {
    try {
      refuseAnswer(status, appliance);
    } catch (problem) {
      discard(answerBody);
      throw problem;
    }
  }
}

function outcomeOf({ code, status }: AdminProblem, isChange: boolean): Partial<Particulars> {
  // A refused key and a certificate that is not the right one were seen before anything could be done.
  const certain = code === 'upstream_unauthorized' || code === 'upstream_redirect';
  return { code, status, ...(isChange && !certain ? { uncertain: true as const } : {}) };
}

/** Lets an answer through; its end, or what cuts it short on either side, is reported before it is passed on. */
function counting(source: Readable, onOver: (bytes: number) => Promise<void>): Readable {
  let bytes = 0;
  let told: Promise<void> | undefined;
  const tell = callbackify(() => (told ??= onOver(bytes)));
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
    flush: (done) => tell(done),
    destroy: (error, done) => tell((failure) => done(failure ?? error)),
  });
  // A failure destroys both ends, which whoever reads the answer sees.
  return pipeline(source, through, () => undefined);
}
