import { resolve } from 'node:path';
import { type AuditFault, type Verification, verifyAudit } from '../admin/journal/verify.ts';
import { errorCode, toError } from '../lib/check.ts';
import { counted, oneLine } from '../lib/text.ts';
import { FileKindError } from '../lib/disk.ts';
import type { Command } from './command.ts';
import { pairLines } from './table.ts';
import { UsageError } from './usage-error.ts';

const usage = 'zlb-exporter audit verify FILE, where FILE is the admin.audit_file of the configuration';
/** Maximal lines of a list; the rest is counted. */
const maxShown = 12;
const keepFiles =
  'Keep the files as they are, as evidence. To begin a new chain, move all whose names begin with that of the audit, and restart the exporter.';

/**
 * `audit verify FILE` says whether an audit is as it was written. Exit code 1 if it is not, or
 * holds no records; 0 also if a killed process left an unfinished last line.
 */
export const audit: Command = async ({ arguments: [verb, file, ...more], say, warn }) => {
  if (verb !== 'verify') throw new UsageError(`audit has one command: ${usage}`);
  if (file === undefined || file === '' || more.length > 0) throw new UsageError(`name one file: ${usage}`);
  let verification: Verification;
  try {
    verification = await verifyAudit(file);
  } catch (error) {
    const isOtherKind = error instanceof FileKindError;
    if (!isOtherKind && errorCode(error) === '') throw error;
    const remedy = isOtherKind
      ? 'Name the admin.audit_file of the configuration.'
      : 'Run this as a user that may read it.';
    warn(`The audit cannot be read: ${toError(error).message}. ${remedy}`);
    return 1;
  }
  for (const line of describe(file, verification)) say(line);
  return verification.faults.length === 0 ? 0 : 1;
};

function* describe(file: string, verification: Verification) {
  const { isPart, isEmpty, first, last, faults, torn, unfinished } = verification;
  yield headline(file, verification);
  if (isPart && first && last) {
    yield `It is one part of an audit, from number ${first.seq} to ${last.seq}; the files before and after it were not read.`;
  }
  if (first && last) {
    yield '';
    const next = isPart ? ', which the first line of the next file names as "prev"' : '';
    yield* pairLines([
      [
        'first line',
        `number ${first.seq}, ${shown(first.time)}${first.seq > 1 && !isPart ? '; older files were moved away' : ''}`,
      ],
      ['last line', `number ${last.seq}, ${shown(last.time)}`],
      ['its hash', `${last.hash}${next}`],
    ]).map((line) => `  ${line}`);
  }
  if (isEmpty) {
    yield isPart ? 'Check the name.' : 'Check that this is the admin.audit_file of the configuration.';
  } else if (faults.length > 0) {
    yield '';
    yield* shortened(faults.map(sentence));
    yield isPart ? 'Keep the file as it is, as evidence.' : keepFiles;
  }
  if (torn) {
    yield '';
    yield `  ${sentence(torn)}`;
    yield 'A killed process leaves such a line, whose request was not sent; the exporter recovers it.';
  }
  if (unfinished.length > 0 && isPart) {
    yield '';
    yield `${counted(unfinished.length, 'request')} without an outcome in this file: the next one may have it.`;
  } else if (unfinished.length > 0) {
    yield '';
    yield `The outcome of ${counted(unfinished.length, 'request')} is unknown: the appliance may have carried it out. The ids:`;
    yield* shortened(unfinished.map(shown));
  }
}

function headline(file: string, { isEmpty, files, lines, faults }: Verification): string {
  if (isEmpty) return `${resolve(file)} holds no records: it ${faults[0]?.what}.`;
  const amount = `${counted(lines, 'line')} in ${counted(files.length, 'file')}`;
  return faults.length === 0
    ? `${file} is whole: ${amount}.`
    : `${file} is NOT whole: ${counted(faults.length, 'fault')}, ${amount}.`;
}

function sentence({ file, line, what }: AuditFault): string {
  return `${file}${line === undefined ? '' : `, line ${line}`} ${what}.`;
}

function* shortened(texts: readonly string[]) {
  for (const text of texts.slice(0, maxShown)) yield `  ${text}`;
  if (texts.length > maxShown) yield `  and ${texts.length - maxShown} more`;
}

/** Returns a text of a possibly forged line without control characters. */
function shown(text: string): string {
  return oneLine(text, 64);
}
