import { finished, Readable } from 'node:stream';
import { AdminProblem, callerLeft } from '../policy/problem.ts';

/** Maximum of one body, and of all bodies of a principal, which leaves as much to others. */
export const maxBodyBytes = 33_554_432;
/** Maximum of the bodies of all principals. */
export const maxTotalBytes = 2 * maxBodyBytes;

export interface ReceiveOptions {
  readonly principal: string;
  /** Not destroyed if it fails or is too slow: a request is still to be answered. */
  readonly source: Readable;
  /** The length, if it is known. */
  readonly length: number | undefined;
  readonly pace: Pace;
  /** Ends the transfer with its reason. */
  readonly signal: AbortSignal;
  readonly onPart?: (part: Buffer) => void;
  /** Called at the end or the failure of a source that was begun, before a reader sees either. */
  readonly onEnd?: (bytes: number, failure?: Error | null) => Promise<void>;
}

/** A body in memory until it is read; destroy it to free the memory. */
export class BufferedBody extends Readable {
  bytesReceived = 0;

  get bytesRead(): number {
    return this.bytesReceived - this.readableLength;
  }

  /** Ends the body if it is read more slowly than at this pace. */
  watch(pace: Pace): this {
    const end = watchPace(
      pace,
      () => this.bytesRead,
      (error) => this.destroy(error),
    );
    return this.once('close', end);
  }
}

/**
 * Buffers files and long responses, so that a slow client and a slow appliance do not block each
 * other. Counts the buffered bytes, whatever length was announced.
 */
export class BodyMemory {
  readonly #bodies = new Map<BufferedBody, string>();

  /** Returns the bytes in memory of a principal; without a name, those of all. */
  bufferedBytes(principal?: string): number {
    let sum = 0;
    for (const [body, owner] of this.#bodies) if (owner === (principal ?? owner)) sum += body.readableLength;
    return sum;
  }

  /**
   * Resolves to a whole body. One that is too long for memory is returned as soon as this is known,
   * and continues while it is read. Rejects if the source is too slow or fails, or if memory is full.
   */
  async receive({ principal, source, length = 0, pace, signal, onPart, onEnd }: ReceiveOptions): Promise<BufferedBody> {
    let isLong = length > maxBodyBytes;
    // Refused before it is read if there is no memory for it now.
    const early = isLong ? undefined : this.#refusal(principal, length);
    if (early) throw early;
    const { promise, resolve, reject } = Promise.withResolvers<BufferedBody>();
    const body = new BufferedBody({ highWaterMark: 65_536, read: () => source.resume() });
    let isOver = false;
    this.#bodies.set(body, principal);

    const onData = (part: Buffer): void => {
      isLong ||= body.bytesReceived + part.length > maxBodyBytes;
      const refusal = isLong ? undefined : this.#refusal(principal, part.length);
      if (refusal) return end(refusal);
      body.bytesReceived += part.length;
      onPart?.(part);
      const wantsMore = body.push(part);
      if (!isLong) return;
      if (!wantsMore) source.pause();
      endWatch();
      resolve(body);
    };
    const end = (failure?: Error | null): void => {
      if (isOver) return;
      isOver = true;
      endWatch();
      signal.removeEventListener('abort', onAbort);
      source.off('data', onData).pause();
      Promise.resolve(onEnd?.(body.bytesReceived, failure)).then(() => finish(failure), finish);
    };
    const finish = (failure?: Error | null): void => {
      if (failure) {
        body.destroy(failure);
        return reject(failure);
      }
      body.push(null);
      resolve(body);
    };
    const onAbort = (): void => end(signal.reason as Error);
    const endWatch = watchPace(pace, () => body.bytesReceived, end);

    // Its reader gets an error too, or destroys the body before it is read.
    body
      .on('error', () => undefined)
      .once('close', () => {
        this.#bodies.delete(body);
        end(body.errored?.name === 'AbortError' ? callerLeft() : (body.errored ?? callerLeft()));
      });
    // Its listeners stay: a source may also fail later, when nobody else listens.
    finished(source, { writable: false }, end);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    source.on('data', onData);
    return await promise;
  }

  #refusal(principal: string, bytes: number): AdminProblem | undefined {
    const own = this.bufferedBytes(principal);
    const all = this.bufferedBytes();
    if (own + bytes > maxBodyBytes)
      return memoryFull(`${principal} has ${own} bytes of bodies in memory, ${maxBodyBytes} are the most`);
    if (all + bytes > maxTotalBytes)
      return memoryFull(`all callers have ${all} bytes of bodies in memory, ${maxTotalBytes} are the most`);
    return undefined;
  }
}

function memoryFull(because: string): AdminProblem {
  return new AdminProblem('too_many_bodies', {
    detail: `Not enough memory for the body: ${because}.`,
    headers: { 'retry-after': '10' },
  });
}

/** The minimum rate of a transfer: that of a slow mobile line. */
export const minBytesPerSecond = 16_384;
/** The longest time between two checks of a transfer. */
const maxCheckIntervalMs = 60_000;
/** The longest pause of a fast transfer: it may begin right after a check. */
export const maxPauseMs = 2 * maxCheckIntervalMs;

/** When the minimum rate applies to a transfer. */
export interface Pace {
  /** The time without any byte at its beginning. */
  readonly graceMs: number;
  readonly tooSlow: () => Error;
}

/**
 * Watches a transfer by the number of its bytes so far, and calls `onSlow` once if it is too slow.
 * Returns a function that ends the watch.
 */
export function watchPace({ graceMs, tooSlow }: Pace, bytes: () => number, onSlow: (error: Error) => void): () => void {
  let seen = bytes();
  let timer = setTimeout(check, graceMs);
  function check(): void {
    const earnedMs = ((bytes() - seen) / minBytesPerSecond) * 1_000;
    seen = bytes();
    if (earnedMs < 1_000) onSlow(tooSlow());
    else timer = setTimeout(check, Math.min(earnedMs, maxCheckIntervalMs));
  }
  return () => clearTimeout(timer);
}
