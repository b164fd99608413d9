import type { FileHandle } from 'node:fs/promises';
import { genesis, hashOf, maxLineBytes, readLine } from './line.ts';
import type { AuditLine, AuditPosition } from './record.ts';
import { scanLines } from './scan.ts';

/** Checks that lines follow each other. */
export interface Chain {
  /** The line with the highest number so far. */
  readonly last: AuditLine | undefined;
  /** Checks the next line, without its newline; returns what is wrong with it in one sentence. */
  take(bytes: Buffer): Taken;
}

export interface Taken {
  readonly line?: AuditLine;
  readonly fault?: string;
}

const notALine = 'is not a line of an audit';

/**
 * Begins after a line, or wherever the first line says that its file begins. After a fault it goes
 * on, so that each fault is reported once.
 */
export function createChain(after?: AuditLine): Chain {
  let last = after;
  return {
    get last() {
      return last;
    },
    take(bytes) {
      const line = readLine(bytes);
      if (!line) return { fault: notALine };
      const faultOfPlace = last ? faultAfter(last, line) : faultOfFirst(line);
      if (!last || line.seq > last.seq) last = line;
      const fault = hashOf(bytes) === line.hash ? faultOfPlace : 'was changed: its hash does not fit its text';
      return fault === undefined ? { line } : { line, fault };
    },
  };
}

function faultAfter(last: AuditPosition, { seq, prev }: AuditLine): string | undefined {
  const wanted = last.seq + 1;
  if (seq > wanted) return `has number ${seq} after ${last.seq}: ${missing(wanted, seq - 1)}`;
  if (seq < wanted) return `has number ${seq} after ${last.seq}: it was moved, repeated or inserted`;
  if (prev !== last.hash) return `does not go with the line before it, number ${last.seq}: one of the two was replaced`;
  return undefined;
}

/** Older files may have been removed, but only whole ones. */
function faultOfFirst({ seq, prev, after }: AuditLine): string | undefined {
  if (seq > 1) return after === undefined ? `has number ${seq}: ${missing(1, seq - 1)}` : undefined;
  return prev === genesis.hash ? undefined : 'has number 1 and names a line before it: it was replaced';
}

/** Returns the missing lines, for a sentence. */
export function missing(from: number, to: number): string {
  return from === to ? `line ${from} is missing` : `lines ${from} to ${to} are missing`;
}

/** A fault in one line of a file. */
export interface LineFault {
  /** From 1. */
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
  readonly torn?: TornLine;
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
  else if (bytes > 0) return { faults, torn: { line: count + 1, bytes }, length: offset };
  return { faults, length: offset };
}

/** Requests whose intent passed and whose outcome did not: they may have reached the appliance. */
export interface Unfinished {
  readonly pass: (line: AuditLine) => void;
  /** Ids, in the order of their intents. */
  readonly requests: readonly string[];
}

export function createUnfinished(): Unfinished {
  const open = new Set<string>();
  return {
    pass({ event, request }) {
      if (event === 'intent') open.add(request);
      if (event === 'outcome') open.delete(request);
    },
    get requests() {
      return [...open];
    },
  };
}
