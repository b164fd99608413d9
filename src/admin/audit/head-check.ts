import { missing } from './chain.ts';
import type { FoundHead } from './kept-head.ts';
import { genesis } from './line.ts';
import type { AuditLine, AuditPosition } from './record.ts';

/** Compares the head that is kept apart with the lines as they pass. */
export interface HeadCheck {
  readonly pass: (line: AuditLine) => void;
  /** What is wrong with the head when the lines end with that number, as the rest of a sentence that begins with its file. */
  faultAt(lastSeq: number): string | undefined;
}

/** `start` is the line before the first one that passes. */
export function createHeadCheck(head: FoundHead, start: AuditPosition): HeadCheck {
  const kept = head === 'none' || head === 'damaged' ? genesis : head;
  let hash = start.seq === kept.seq ? start.hash : undefined;
  return {
    pass(line) {
      if (line.seq === kept.seq) hash = line.hash;
      // The line of the head may be in a file that has been put away.
      if (line.seq === kept.seq + 1) hash ??= line.prev;
    },
    faultAt(lastSeq) {
      if (head === 'damaged') return 'is damaged: lines may be missing at the end';
      // The head lags behind after a crash, since it is written last.
      if (head === 'none') return lastSeq === 0 ? undefined : 'is missing: lines may be missing at the end';
      if (kept.seq > lastSeq) return `knows of line number ${kept.seq}: ${missing(lastSeq + 1, kept.seq)} at the end`;
      return hash === kept.hash ? undefined : `knows of another line number ${kept.seq} than the one that is there`;
    },
  };
}
