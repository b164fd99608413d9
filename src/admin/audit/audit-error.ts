import { errorCode, toError } from '../../lib/check.ts';
import { FileKindError } from '../../lib/regular-file.ts';

/**
 * Why a record is not on disk: the disk is full, another process writes the file, it cannot be
 * written, its chain is broken, or the journal has been closed.
 */
export type AuditFailure = 'full' | 'locked' | 'unwritable' | 'broken' | 'closed';

/**
 * Says that a record is not on disk, so that its call must not be sent. The message is one line
 * with the remedy; it names a local file.
 */
export class AuditError extends Error {
  override readonly name = 'AuditError';
  readonly reason: AuditFailure;

  constructor(reason: AuditFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'the user that runs the exporter may not; give it the file and its folder',
  EPERM: 'the user that runs the exporter may not; give it the file and its folder',
  EROFS: 'the file system is read-only; mount it for writing or choose another admin.audit_file',
  ENOENT: 'its folder cannot be made there; choose another admin.audit_file',
  ENOTDIR: 'a part of its path is a file; choose another admin.audit_file',
  EISDIR: 'it is a folder; choose another admin.audit_file',
  ENAMETOOLONG: 'its name is too long; choose another admin.audit_file',
  EMFILE: 'the exporter has too many files open; raise its limit',
};

/** Wraps file-system errors in an AuditError; returns other errors unchanged. */
export function toAuditError(thrown: unknown, file: string): Error {
  const error = toError(thrown);
  const code = errorCode(thrown);
  if (error instanceof FileKindError) {
    const message = `cannot write the audit ${file}: ${error.message}; move it away or choose another admin.audit_file; the next call tries again`;
    return new AuditError('unwritable', message, { cause: thrown });
  }
  if (error instanceof AuditError || !/^E[A-Z]+$/.test(code)) return error;
  const options = { cause: thrown };
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) {
    const full = `cannot write the audit ${file}: no room is left (${code}); make room, the next call tries again`;
    return new AuditError('full', full, options);
  }
  const remedy = remedies[code] ?? 'check the disk and the folder; the next call tries again';
  return new AuditError('unwritable', `cannot write the audit ${file} (${code}): ${remedy}`, options);
}

/**
 * Returns the error for a chain on disk that is not the one that was written: nothing may be
 * appended to it.
 */
export function brokenAudit(file: string, what: string): AuditError {
  return new AuditError(
    'broken',
    `the audit ${file} is not whole: ${what}; look with "zlb-exporter audit verify ${file}", keep the files as evidence, move all whose names begin with it away, and restart the exporter to begin a new chain on purpose`,
  );
}
