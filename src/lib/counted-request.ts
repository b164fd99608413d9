import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { bytesPerPart, freeParts } from './growing-buffer.ts';

/** Says that a body came in too many short parts. */
export class TooManyPartsError extends Error {
  override readonly name = 'TooManyPartsError';
  readonly statusCode = 413;

  constructor() {
    super(`the body came in more than ${freeParts} parts with less than ${bytesPerPart} bytes each`);
  }
}

/** Counts the parts of a body, each of which costs time and memory however short it is. */
export class PartCount {
  #parts = 0;
  #bytes = 0;

  /** Counts a part; returns false for one too many. */
  add({ length }: Buffer): boolean {
    this.#parts += 1;
    this.#bytes += length;
    return this.#parts <= freeParts + this.#bytes / bytesPerPart;
  }
}

/**
 * A request to a server whose body fails with a {@link TooManyPartsError}, also while nobody reads
 * it: Node keeps a part of one byte in about 500, so that a few unread bodies would fill the
 * memory. Its connection stays open for the response.
 */
export class CountedRequest extends IncomingMessage {
  readonly #count = new PartCount();

  override push(part: Buffer | null, encoding?: BufferEncoding): boolean {
    if (part === null || this.destroyed || this.#count.add(part)) return super.push(part, encoding);
    this.destroy(new TooManyPartsError());
    // So that Node pauses the connection.
    return false;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!(error instanceof TooManyPartsError)) super._destroy(error, callback);
    // An error that nobody listens to would end the process. A later reader gets it as well.
    else callback(this.listenerCount('error') === 0 ? null : error);
  }
}

const portionBytes = 4_096;

/**
 * Hands what comes on a connection of an HTTP server to its parser in portions, so that a paused
 * connection stops it. Node would hand over up to 64 KiB at once, in which single bytes are 10,000
 * parts.
 */
export function readInPortions(socket: Socket): void {
  // Somebody who listens, so that the bytes come through the socket.
  socket.on('data', () => undefined);
  const push = socket.push.bind(socket);
  socket.push = (bytes: Buffer | null, encoding) => {
    let wantsMore = true;
    if (bytes === null) return push(bytes, encoding);
    for (let at = 0; at < bytes.length; at += portionBytes)
      wantsMore = push(bytes.subarray(at, at + portionBytes), encoding);
    return wantsMore;
  };
}
