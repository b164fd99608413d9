import { genesis, hashOf, readLine } from './line.ts';
import type { AuditLine, AuditPosition } from './record.ts';

/** Checks that lines follow one another. */
export interface Chain {
  /** The line with the highest number so far. */
  readonly last: AuditLine | undefined;
  /** Takes the next line, without its newline; what is wrong with it comes back in one sentence. */
  take(bytes: Buffer): Taken;
}

export interface Taken {
  readonly line?: AuditLine;
  readonly fault?: string;
}

export const notALine = 'is not a line of an audit';

/** Begins after a line, or wherever the first line says that its file begins. After a fault it goes on, so that each is told once. */
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

/** Older files may have been put away, but only whole ones. */
function faultOfFirst({ seq, prev, after }: AuditLine): string | undefined {
  if (seq > 1) return after === undefined ? `has number ${seq}: ${missing(1, seq - 1)}` : undefined;
  return prev === genesis.hash ? undefined : 'has number 1 and names a line before it: it was replaced';
}

/** Lines that are not there, for a sentence. */
export function missing(from: number, to: number): string {
  return from === to ? `line ${from} is missing` : `lines ${from} to ${to} are missing`;
}
