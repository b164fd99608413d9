import { finished, Readable } from 'node:stream';
import { AdminProblem, callerLeft } from '../policy/problem.ts';

/** Maximum of one body, and of all bodies of a principal, which leaves as much to others. */
export const maxBodyBytes = 33_554_432;
/** Maximum of the bodies of all principals. */
export const maxHeldBytes = 2 * maxBodyBytes;

export interface Intake {
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

/** A body whose buffer holds it until it is read; destroy it to free its memory. */
export class HeldBody extends Readable {
  received = 0;

  /** The number of bytes that its reader has. */
  get taken(): number {
    return this.received - this.readableLength;
  }

  /** Ends the body if it is read more slowly than at this pace. */
  watch(pace: Pace): this {
    const end = watchPace(
      pace,
      () => this.taken,
      (error) => this.destroy(error),
    );
    return this.once('close', end);
  }
}

/**
 * Holds files and long responses, so that a slow client and a slow appliance do not block each other.
 * Counts their bytes while they are held, whatever length was announced.
 */
export class BodyMemory {
  readonly #bodies = new Map<HeldBody, string>();

  /** Returns the bytes that a principal holds now; without a name, those of all. */
  heldBytes(principal?: string): number {
    let sum = 0;
    for (const [body, owner] of this.#bodies) if (owner === (principal ?? owner)) sum += body.readableLength;
    return sum;
  }

  /**
   * Resolves to a whole body. One that is too long for memory comes as soon as this is known, and
   * continues while it is read. Rejects if the source is too slow or fails, or if memory is full.
   */
  async receive({ principal, source, length = 0, pace, signal, onPart, onEnd }: Intake): Promise<HeldBody> {
    let isLong = length > maxBodyBytes;
    // Refused before it is read if there is no room for it now.
    const early = isLong ? undefined : this.#refusal(principal, length);
    if (early) throw early;
    const { promise, resolve, reject } = Promise.withResolvers<HeldBody>();
    const body = new HeldBody({ highWaterMark: 65_536, read: () => source.resume() });
    let isOver = false;
    this.#bodies.set(body, principal);

    const take = (part: Buffer): void => {
      isLong ||= body.received + part.length > maxBodyBytes;
      const refusal = isLong ? undefined : this.#refusal(principal, part.length);
      if (refusal) return end(refusal);
      body.received += part.length;
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
      signal.removeEventListener('abort', leave);
      source.off('data', take).pause();
      Promise.resolve(onEnd?.(body.received, failure)).then(() => settle(failure), settle);
    };
    const settle = (failure?: Error | null): void => {
      if (failure) {
        body.destroy(failure);
        return reject(failure);
      }
      body.push(null);
      resolve(body);
    };
    const leave = (): void => end(signal.reason as Error);
    const endWatch = watchPace(pace, () => body.received, end);

    // Its reader gets an error too, or destroys the body before it is read.
    body
      .on('error', () => undefined)
      .once('close', () => {
        this.#bodies.delete(body);
        end(body.errored?.name === 'AbortError' ? callerLeft() : (body.errored ?? callerLeft()));
      });
    // Its listeners stay: a source may also fail later, when nobody else listens.
    finished(source, { writable: false }, end);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    source.on('data', take);
    return await promise;
  }

  #refusal(principal: string, bytes: number): AdminProblem | undefined {
    const own = this.heldBytes(principal);
    const all = this.heldBytes();
    if (own + bytes > maxBodyBytes)
      return full(`${principal} has ${own} bytes of bodies in memory, ${maxBodyBytes} are the most`);
    if (all + bytes > maxHeldBytes)
      return full(`all callers have ${all} bytes of bodies in memory, ${maxHeldBytes} are the most`);
    return undefined;
  }
}

function full(because: string): AdminProblem {
  return new AdminProblem('too_many_bodies', {
    detail: `Not enough memory for the body: ${because}.`,
    headers: { 'retry-after': '10' },
  });
}

/** The minimum rate of a transfer: that of a slow mobile line. */
export const minBytesPerSecond = 16_384;
/** A transfer that is fast is looked at so often. */
const maxWaitMs = 60_000;
/** The longest pause of a transfer that is fast: it may begin right after a look at it. */
export const maxPauseMs = 2 * maxWaitMs;

/** When the minimum rate applies to a transfer. */
export interface Pace {
  /** The time without any byte at its beginning. */
  readonly graceMs: number;
  /** Returns the error that ends a slower transfer. */
  readonly tooSlow: () => Error;
}

/**
 * Watches a transfer by the number of its bytes so far, and calls `onSlow` once if it is too slow.
 * Returns a function that ends the watch.
 */
export function watchPace({ graceMs, tooSlow }: Pace, bytes: () => number, onSlow: (error: Error) => void): () => void {
  let seen = bytes();
  let timer = setTimeout(look, graceMs);
  function look(): void {
    const earnedMs = ((bytes() - seen) / minBytesPerSecond) * 1_000;
    seen = bytes();
    if (earnedMs < 1_000) onSlow(tooSlow());
    else timer = setTimeout(look, Math.min(earnedMs, maxWaitMs));
  }
  return () => clearTimeout(timer);
}
