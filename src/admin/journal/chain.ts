import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { assert, isRecord, parseJson } from '../../lib/check.ts';
import { ifMissing, openRegularFile, writeFully } from '../../lib/disk.ts';
import type { AuditLine, AuditPosition, AuditRecord } from './record.ts';

/** The position before the first line. */
export const genesis: AuditPosition = { seq: 0, hash: '0'.repeat(64) };

/** Maximum length of a line; records are masked and shortened. */
export const maxLineBytes = 1_048_576;

const seal = /^,"hash":"[0-9a-f]{64}"\}$/;
/** Bytes of `,"hash":"…"}`. */
const sealBytes = 75;

export interface SealedLine {
  /** The bytes of the line, with the newline. */
  readonly bytes: Buffer;
  readonly position: AuditPosition;
}

/** The members that the journal adds to a record. */
export interface Circumstances {
  readonly time: string;
  /** The line before. */
  readonly last: AuditPosition;
  /** For the first line of a file: the file before. */
  readonly after: string | undefined;
}

/**
 * Returns the line that follows `last`. Its hash is the SHA-256 of the line's text without the hash
 * member, which therefore comes last: sed 's/,"hash":"[^"]*"}$/}/' gives the text back.
 */
export function sealLine(record: AuditRecord, { time, last, after }: Circumstances): SealedLine {
  const seq = last.seq + 1;
  const text = JSON.stringify({ seq, time, ...(after === undefined ? {} : { after }), ...record, prev: last.hash });
  const hash = createHash('sha256').update(text).digest('hex');
  const bytes = Buffer.from(`${text.slice(0, -1)},"hash":"${hash}"}\n`);
  assert(bytes.length <= maxLineBytes, 'a record of the audit is short');
  return { bytes, position: { seq, hash } };
}

/** Parses a line without its newline; undefined for anything else. Does not check its hash. */
export function readLine(bytes: Buffer): AuditLine | undefined {
  if (bytes.length > maxLineBytes || !seal.test(bytes.toString('latin1', bytes.length - sealBytes))) return undefined;
  const value = parseJson(bytes);
  return isAuditLine(value) ? value : undefined;
}

/** Returns the expected hash of the text of a line. */
function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes.subarray(0, -sealBytes)).update('}').digest('hex');
}

/** Returns true if the members that the chain needs are there. */
function isAuditLine(value: unknown): value is AuditLine {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.seq) &&
    Number(value.seq) > 0 &&
    [value.time, value.event, value.request, value.prev, value.hash].every((member) => typeof member === 'string')
  );
}

const notALine = 'is not a line of an audit';

/**
 * Checks that lines follow each other. Begins after a line, or wherever the first line says that
 * its file begins. After a fault it goes on, so that each fault is reported once.
 */
export class Chain {
  #last: AuditLine | undefined;

  constructor(after?: AuditLine) {
    this.#last = after;
  }

  /** Returns the line with the highest number so far. */
  get last(): AuditLine | undefined {
    return this.#last;
  }

  /** Checks the next line, without its newline; returns what is wrong with it in one sentence. */
  take(bytes: Buffer): { readonly line?: AuditLine; readonly fault?: string } {
    const line = readLine(bytes);
    if (!line) return { fault: notALine };
    const faultOfPlace = this.#last ? faultAfter(this.#last, line) : faultOfFirst(line);
    if (!this.#last || line.seq > this.#last.seq) this.#last = line;
    const fault = hashOf(bytes) === line.hash ? faultOfPlace : 'was changed: its hash does not fit its text';
    return fault === undefined ? { line } : { line, fault };
  }
}

function faultAfter(last: AuditPosition, { seq, prev }: AuditLine): string | undefined {
  const wanted = last.seq + 1;
  if (seq > wanted) return `has number ${seq} after ${last.seq}: ${missing(wanted, seq - 1)}`;
  if (seq < wanted) return `has number ${seq} after ${last.seq}: it was moved, repeated or inserted`;
  if (prev !== last.hash) return `does not go with the line before it, number ${last.seq}: one of the two was replaced`;
  return undefined;
}

/** Checks the first line of a file; older files may have been removed, but only as a whole. */
function faultOfFirst({ seq, prev, after }: AuditLine): string | undefined {
  if (seq > 1) return after === undefined ? `has number ${seq}: ${missing(1, seq - 1)}` : undefined;
  return prev === genesis.hash ? undefined : 'has number 1 and names a line before it: it was replaced';
}

/** Returns the missing lines, for a sentence. */
function missing(from: number, to: number): string {
  return from === to ? `line ${from} is missing` : `lines ${from} to ${to} are missing`;
}

/** A fault in one line of a file. */
export interface LineFault {
  /** The number of the line, from 1. */
  readonly line: number;
  /** The rest of a sentence that begins with the line. */
  readonly what: string;
}

export interface FileCheck {
  readonly faults: readonly LineFault[];
  /**
   * A last line without its newline, as a killed process or a loss of power leaves it; not among
   * the faults.
   */
  readonly torn: TornLine | undefined;
  /** Bytes up to the end of the last finished line. */
  readonly length: number;
}

export interface TornLine {
  readonly line: number;
  readonly bytes: number;
}

/** Reads a whole file as the next part of a chain. */
export async function checkFile(
  handle: FileHandle,
  chain: Chain,
  onLine: (line: AuditLine) => void,
): Promise<FileCheck> {
  const faults: LineFault[] = [];
  let count = 0;
  const { offset, bytes } = await scanLines(handle, (text) => {
    count += 1;
    const { line, fault } = chain.take(text);
    if (fault !== undefined) faults.push({ line: count, what: fault });
    if (line) onLine(line);
  });
  // No valid line is that long.
  if (bytes > maxLineBytes) faults.push({ line: count + 1, what: notALine });
  const isTorn = bytes > 0 && bytes <= maxLineBytes;
  return { faults, torn: isTorn ? { line: count + 1, bytes } : undefined, length: offset };
}

/**
 * Collects the ids of requests that have an intent and no outcome, in the order of their intents:
 * they may have reached the appliance.
 */
export function noteUnfinished(unfinished: Set<string>, { event, request }: AuditLine): void {
  if (event === 'intent') unfinished.add(request);
  if (event === 'outcome') unfinished.delete(request);
}

const blockBytes = 262_144;
const newline = 0x0a;

/** The bytes after the last newline of a file. */
interface Tail {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Calls `visit` with each line of a file, without its newline. Reads in blocks; of a line that is
 * too long to be one it passes only the beginning. The bytes are valid until `visit` returns.
 */
export async function scanLines(handle: FileHandle, visit: (bytes: Buffer) => void): Promise<Tail> {
  const buffer = Buffer.allocUnsafe(blockBytes);
  let begun = Buffer.alloc(0);
  let lineOffset = 0;
  let position = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, blockBytes, position);
    if (bytesRead === 0) return { offset: lineOffset, bytes: position - lineOffset };
    const block = buffer.subarray(0, bytesRead);
    let from = 0;
    for (let to = block.indexOf(newline); to !== -1; to = block.indexOf(newline, from)) {
      const rest = block.subarray(from, to);
      visit(begun.length === 0 ? rest : Buffer.concat([begun, rest]));
      begun = Buffer.alloc(0);
      from = to + 1;
      lineOffset = position + from;
    }
    if (begun.length <= maxLineBytes) begun = Buffer.concat([begun, block.subarray(from)]);
    position += bytesRead;
  }
}

/**
 * Stores the number and the hash of the last line, which shows whether the last lines are missing.
 */
export interface KeptHead {
  /** The head when it was opened. */
  readonly found: FoundHead;
  /** Writes the head in place, always with the same length. */
  write(position: AuditPosition): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Returns the path of the head, next to the audit. */
export function headPath(file: string): string {
  return `${file}.head`;
}

export async function openHead(file: string): Promise<KeptHead> {
  const handle = await openRegularFile(headPath(file), constants.O_RDWR | constants.O_CREAT);
  return {
    found: await headIn(handle),
    async write({ seq, hash }) {
      await writeFully(handle, Buffer.from(`${String(seq).padStart(16, '0')} ${hash}\n`), 0);
    },
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

export async function readHead(file: string): Promise<FoundHead> {
  const handle = await openRegularFile(headPath(file)).catch(ifMissing);
  if (!handle) return 'none';
  try {
    return await headIn(handle);
  } finally {
    await handle.close();
  }
}

async function headIn(handle: FileHandle): Promise<FoundHead> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(128), 0, 128, 0);
  // On a full disk the file may have been created but not written.
  if (bytesRead === 0) return 'none';
  const [, seq, hash] = /^(\d{16}) ([0-9a-f]{64})\n$/.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
  return seq === undefined || hash === undefined ? 'damaged' : { seq: Number(seq), hash };
}

/** `none` if no line was ever written; `damaged` if the file contains something else. */
export type FoundHead = AuditPosition | 'none' | 'damaged';

/** Compares the stored head with the lines after `start` as they pass. */
export function createHeadCheck(head: FoundHead, start: AuditPosition) {
  const kept = head === 'none' || head === 'damaged' ? genesis : head;
  let hash = start.seq === kept.seq ? start.hash : undefined;
  return {
    pass(line: AuditLine): void {
      if (line.seq === kept.seq) hash = line.hash;
      // The line of the head may be in a file that was removed.
      if (line.seq === kept.seq + 1) hash ??= line.prev;
    },
    /**
     * Returns what is wrong with the head when the lines end with that number: the rest of a
     * sentence that begins with its file.
     */
    faultAt(lastSeq: number): string | undefined {
      if (head === 'damaged') return 'is damaged: lines may be missing at the end';
      // The head lags behind after a crash, since it is written last.
      if (head === 'none') return lastSeq === 0 ? undefined : 'is missing: lines may be missing at the end';
      if (kept.seq > lastSeq) return `knows of line number ${kept.seq}: ${missing(lastSeq + 1, kept.seq)} at the end`;
      return hash === kept.hash ? undefined : `knows of another line number ${kept.seq} than the one that is there`;
    },
  };
}
