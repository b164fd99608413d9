import { randomUUID } from 'node:crypto';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode } from '../../lib/check.ts';
import { steadyNow } from '../../lib/time.ts';
import { makeFolder, writeFully } from '../../lib/disk.ts';
import { AdminProblem } from '../policy/problem.ts';

/** The minimum average rate of a transfer: that of a slow mobile line. */
export const minBytesPerSecond = 16_384;

/** When the minimum rate applies to a transfer. */
export interface Pace {
  readonly graceMs: number;
  /** Returns the error that ends a slower transfer. */
  readonly tooSlow: () => Error;
}

export interface Intake {
  readonly principal: string;
  /** The source; not destroyed if the transfer fails. */
  readonly source: Readable;
  /** The length; if it is known, space for all of it is reserved at once. */
  readonly bytes?: number;
  readonly pace: Pace;
  /** Aborts the transfer with its reason. */
  readonly signal: AbortSignal;
  readonly onChunk?: (chunk: Buffer) => void;
  /**
   * Called once, at the end or the failure of the transfer. Readers see neither before it has
   * resolved.
   */
  readonly onEnd?: (bytes: number, failure: unknown) => Promise<void>;
}

/**
 * Stores bodies that are too large for memory, so that a slow client and a slow appliance do not
 * block each other.
 */
export type Spool = ReturnType<typeof createSpool>;

export interface SpoolParts {
  readonly folder: string;
  readonly maxBytes: number;
  readonly maxBytesPerPrincipal: number;
  /** Bytes that are kept for principals with no other body under way. */
  readonly keptBytes: number;
  /** Bytes to leave free on the disk for the audit. */
  readonly keepFreeBytes: number;
}

/** Bytes that are read at a time. */
const chunkBytes = 65_536;
/** Bytes that are reserved at a time if the length is not known. */
const stepBytes = 1_048_576;

export function createSpool(parts: SpoolParts) {
  const { folder } = parts;
  const usages = new Set<Usage>();
  return {
    /** Stores a body. Rejects with an {@link AdminProblem} if there is no space. */
    async take(intake: Intake): Promise<SpooledBody> {
      // `whole` reports it. A source may fail while the file is being opened, before it is read.
      intake.source.on('error', () => undefined);
      const room = openRoom(parts, usages, intake.principal);
      try {
        await room.claim(intake.bytes ?? stepBytes);
        return new SpooledBody(await openNameless(folder), room, intake);
      } catch (error) {
        room.release();
        throw error instanceof AdminProblem ? error : unavailable(`it cannot be kept on disk (${errorCode(error)})`);
      }
    },
  };
}

/**
 * Opens an unlinked file that only this process can read, and that vanishes when the process ends.
 */
async function openNameless(folder: string): Promise<FileHandle> {
  await makeFolder(folder);
  const path = join(folder, `.spool-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The disk space that one body uses. */
interface Usage {
  readonly principal: string;
  claimedBytes: number;
  writtenBytes: number;
}

/** The disk space of one body. */
type Room = ReturnType<typeof openRoom>;

/**
 * Opens a room among those of all bodies: one principal gets at most half of the space, and the
 * audit's part of the disk stays free.
 */
function openRoom(
  { folder, maxBytes, maxBytesPerPrincipal, keptBytes, keepFreeBytes }: SpoolParts,
  all: Set<Usage>,
  principal: string,
) {
  const own: Usage = { principal, claimedBytes: 0, writtenBytes: 0 };
  all.add(own);
  const sum = (bytesOf: (usage: Usage) => number): number =>
    [...all].reduce((total, usage) => total + bytesOf(usage), 0);

  async function claim(bytes: number): Promise<void> {
    const ofPrincipal = sum((usage) => (usage.principal === principal ? usage.claimedBytes : 0));
    const ofAll = sum(({ claimedBytes }) => claimedBytes);
    if (ofPrincipal + bytes > maxBytesPerPrincipal)
      throw unavailable(
        `${principal} has ${ofPrincipal} bytes of bodies under way already, ${maxBytesPerPrincipal} are the most`,
      );
    const hasOthers = [...all].some((usage) => usage !== own && usage.principal === principal);
    const most = hasOthers ? maxBytes - keptBytes : maxBytes;
    if (ofAll + bytes > most)
      throw unavailable(`all callers together have ${ofAll} bytes of bodies under way, ${most} are the most now`);
    own.claimedBytes += bytes;
    await makeFolder(folder);
    const { bavail, bsize } = await statfs(folder);
    // Reserved bytes that are not written yet still count as free on the disk.
    const unwritten = sum(({ claimedBytes, writtenBytes }) => claimedBytes - writtenBytes);
    if (bavail * bsize - unwritten < keepFreeBytes)
      throw unavailable(`the disk has to keep ${keepFreeBytes} bytes free for the audit`);
  }

  return {
    claim,
    /** Counts bytes about to be written, and reserves more space if needed. */
    async claimFor(bytes: number): Promise<void> {
      if (own.writtenBytes + bytes > own.claimedBytes) await claim(Math.max(stepBytes, bytes));
      own.writtenBytes += bytes;
    },
    release: () => void all.delete(own),
  };
}

/**
 * A body in an unlinked file. Closes the file when the transfer has ended, nobody reads it, and it
 * was released.
 */
export class SpooledBody {
  /** Resolves to its length at the end of the source. Rejects if the transfer fails. */
  readonly whole: Promise<number>;
  readonly #file: FileHandle;
  readonly #room: Room;
  /** The number of bytes received so far; all of them are in the file unless nobody reads them. */
  #bytes = 0;
  #hasEnded = false;
  #isReleased = false;
  #readers = 0;
  #progress = Promise.withResolvers<void>();

  constructor(file: FileHandle, room: Room, intake: Intake) {
    this.#file = file;
    this.#room = room;
    this.whole = this.#takeIn(intake).finally(() => {
      this.#hasEnded = true;
      this.#progress.resolve();
      this.#closeUnused();
    });
    // Readers see the failure too; nobody else may wait for it.
    this.whole.catch(() => undefined);
  }

  /**
   * Reads it from its beginning, once, while it still grows too. The pace counts once the body is
   * whole. Calls `onPart` with the bytes that the reader gets.
   */
  read(pace: Pace, onPart?: (bytes: number) => void): Readable {
    let watch: ReturnType<typeof watchPace> | undefined;
    const onRead = (count: number): void => {
      watch?.passed(count);
      onPart?.(count);
    };
    this.#readers += 1;
    const reader = Readable.from(this.#parts(onRead), { objectMode: false, highWaterMark: chunkBytes });
    reader.once('close', () => {
      watch?.end();
      this.#readers -= 1;
      this.#closeUnused();
    });
    // The reader sees the failure; the stream may be destroyed before it is read.
    reader.on('error', () => undefined);
    const watchRest = (): void => {
      if (!reader.destroyed) watch = watchPace(pace, (error) => reader.destroy(error));
    };
    void this.whole.then(watchRest, () => undefined);
    return reader;
  }

  /** Frees its disk space after the reader has closed. */
  release(): void {
    this.#isReleased = true;
    this.#closeUnused();
  }

  async #takeIn(intake: Intake): Promise<number> {
    const { source, onChunk, onEnd } = intake;
    try {
      for await (const chunk of paced(source, intake)) {
        onChunk?.(chunk);
        // A body without a reader is read to its end too: its outcome counts.
        if (!this.#isReleased || this.#readers > 0) await this.#write(chunk);
        this.#bytes += chunk.length;
        this.#progress.resolve();
        this.#progress = Promise.withResolvers();
      }
    } catch (error) {
      await onEnd?.(this.#bytes, error);
      throw error;
    }
    await onEnd?.(this.#bytes, undefined);
    return this.#bytes;
  }

  async #write(chunk: Buffer): Promise<void> {
    await this.#room.claimFor(chunk.length);
    try {
      await writeFully(this.#file, chunk, this.#bytes);
    } catch (error) {
      throw unavailable(`it cannot be kept on disk (${errorCode(error)})`);
    }
  }

  async *#parts(onRead: (count: number) => void): AsyncGenerator<Buffer> {
    for (let at = 0; ; ) {
      if (at < this.#bytes) {
        const length = Math.min(chunkBytes, this.#bytes - at);
        const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, at);
        at += bytesRead;
        onRead(bytesRead);
        yield buffer.subarray(0, bytesRead);
      } else if (this.#hasEnded) {
        await this.whole;
        return;
      } else await this.#progress.promise;
    }
  }

  #closeUnused(): void {
    if (!this.#isReleased || this.#readers > 0 || !this.#hasEnded) return;
    void this.#file
      .close()
      .catch(() => undefined)
      .then(() => this.#room.release());
  }
}

/** Yields the chunks of a source until it ends, is too slow or is aborted. */
async function* paced(source: Readable, { pace, signal }: Pick<Intake, 'pace' | 'signal'>): AsyncGenerator<Buffer> {
  let failure: Error | undefined;
  let fail = (_reason: Error): void => undefined;
  const interrupt = (reason: Error): void => {
    failure ??= reason;
    fail(failure);
  };
  const leave = (): void => interrupt(signal.reason as Error);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  const watch = watchPace(pace, interrupt);
  // Not destroyed if it is not read to its end: destroying a request closes the socket of its
  // answer.
  const chunks = source.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      if (failure) throw failure;
      // A race with one promise for all chunks would keep some memory for each of them.
      const { done, value } = await new Promise<IteratorResult<Buffer, undefined>>((resolve, reject) => {
        fail = reject;
        chunks.next().then(resolve, reject);
      });
      if (done) return;
      watch.passed(value.length);
      yield value;
    }
  } finally {
    watch.end();
    signal.removeEventListener('abort', leave);
    chunks.return?.(undefined).catch(() => undefined);
  }
}

function watchPace({ graceMs, tooSlow }: Pace, end: (error: Error) => void) {
  const startedAt = steadyNow();
  let bytes = 0;
  let timer = setTimeout(check, graceMs);
  function check(): void {
    const leftMs = startedAt + graceMs + (bytes / minBytesPerSecond) * 1_000 - steadyNow();
    if (leftMs <= 0) end(tooSlow());
    else timer = setTimeout(check, Math.min(leftMs, 60_000));
  }
  return {
    passed(count: number) {
      bytes += count;
    },
    end: () => clearTimeout(timer),
  };
}

function unavailable(because: string): AdminProblem {
  return new AdminProblem('spool_unavailable', {
    detail: `There is no room for the body: ${because}.`,
    headers: { 'retry-after': '10' },
  });
}
