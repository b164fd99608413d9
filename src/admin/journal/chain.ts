import { createHash } from 'node:crypto';
import { assert, isRecord, parseJson } from '../../lib/check.ts';
import type { AuditLine, AuditPosition, AuditRecord } from './record.ts';

/** The position before the first record. */
export const genesis: AuditPosition = { seq: 0, hash: '0'.repeat(64) };

/** Maximum length of a line; records are masked and shortened. */
const maxLineLength = 1_048_576;

const seal = /,"hash":"[0-9a-f]{64}"\}$/;

/** A record with its place in the chain, as one line of JSON. */
export interface SealedRecord {
  readonly line: string;
  readonly position: AuditPosition;
}

/**
 * Returns the line that follows `last`. Its hash is the SHA-256 of the line's text without the hash
 * member, which therefore comes last: sed 's/,"hash":"[^"]*"}$/}/' gives the text back.
 */
export function sealRecord(record: AuditRecord, time: string, last: AuditPosition): SealedRecord {
  const seq = last.seq + 1;
  const text = JSON.stringify({ seq, time, ...record, prev: last.hash });
  const hash = hashOf(text);
  const line = `${text.slice(0, -1)},"hash":"${hash}"}`;
  assert(line.length <= maxLineLength, 'a record of the journal is short');
  return { line, position: { seq, hash } };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Parses a line; undefined for anything else. Does not check its hash. */
export function readLine(line: string): AuditLine | undefined {
  const value = seal.test(line) ? parseJson(line) : undefined;
  return isAuditLine(value) ? value : undefined;
}

/** Returns true if the members that the chain needs are there. */
function isAuditLine(value: unknown): value is AuditLine {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.seq) &&
    [value.time, value.event, value.request, value.prev, value.hash].every((member) => typeof member === 'string')
  );
}

/** A line that follows its predecessor, or what is wrong with it in the rest of a sentence. */
export interface CheckedLine {
  readonly line?: AuditLine;
  readonly fault?: string;
}

/** Checks the text of a record that is stored under a number, after the one before it. */
export function checkLine(text: string, number: number, before: AuditPosition): CheckedLine {
  const line = readLine(text);
  if (!line) return { fault: 'is not a record of a journal' };
  if (hashOf(text.replace(seal, '}')) !== line.hash)
    return { line, fault: 'was changed: its hash does not fit its text' };
  // Such as a name that is there twice, of which readers take one or the other.
  if (JSON.stringify(line) !== text) return { line, fault: 'is not written as the exporter writes records' };
  if (line.seq !== number) return { line, fault: `says that it is number ${line.seq}: it was moved` };
  const wanted = before.seq + 1;
  if (number !== wanted) return { line, fault: `comes after number ${before.seq}: ${missingText(wanted, number - 1)}` };
  if (line.prev !== before.hash)
    return { line, fault: `does not go with the one before it, number ${before.seq}: one of the two was replaced` };
  return { line };
}

export function missingText(from: number, to: number): string {
  return from === to ? `number ${from} is missing` : `numbers ${from} to ${to} are missing`;
}
