import { createHash } from 'node:crypto';
import { assert, isRecord } from '../../lib/check.ts';
import type { AuditLine, AuditPosition, AuditRecord } from './record.ts';

/** Before the first line. */
export const genesis: AuditPosition = { seq: 0, hash: '0'.repeat(64) };

/** Maximum length of a line; records are masked and shortened. */
export const maxLineBytes = 1_048_576;

const seal = /^,"hash":"[0-9a-f]{64}"\}$/;
/** Bytes of `,"hash":"…"}`. */
const sealBytes = 75;

export interface SealedLine {
  /** With the newline. */
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
 * The line that follows `last`. Its hash is the SHA-256 of the line's text without the hash member,
 * which therefore comes last: sed 's/,"hash":"[^"]*"}$/}/' gives the text back.
 */
export function sealLine(record: AuditRecord, { time, last, after }: Circumstances): SealedLine {
  const seq = last.seq + 1;
  const text = JSON.stringify({ seq, time, ...(after === undefined ? {} : { after }), ...record, prev: last.hash });
  const hash = createHash('sha256').update(text).digest('hex');
  const bytes = Buffer.from(`${text.slice(0, -1)},"hash":"${hash}"}\n`);
  assert(bytes.length <= maxLineBytes, 'a record of the audit is short');
  return { bytes, position: { seq, hash } };
}

/** Parses a line without its newline; undefined if it is none. Does not check its hash. */
export function readLine(bytes: Buffer): AuditLine | undefined {
  if (bytes.length > maxLineBytes || !seal.test(bytes.toString('latin1', bytes.length - sealBytes))) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isAuditLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the expected hash of the text of a line. */
export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes.subarray(0, -sealBytes)).update('}').digest('hex');
}

/** The members of a line that the chain needs, and the text that the hash covers. */
function isAuditLine(value: unknown): value is AuditLine {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.seq) &&
    Number(value.seq) > 0 &&
    [value.time, value.event, value.request, value.prev, value.hash].every((member) => typeof member === 'string')
  );
}
