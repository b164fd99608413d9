import type { Secret } from '../lib/secret.ts';
import { AuditError } from './audit/audit-error.ts';
import type { AuditJournal } from './audit/journal.ts';
import type { AuditPosition, AuditRecord } from './audit/record.ts';
import { createDenials, type Suppressed } from './denials.ts';
import type { Principal } from './principal.ts';
import { AdminProblem } from './problem.ts';
import { createScrubber, type ScrubberParts } from './scrubber.ts';

/** The common part of all records of a request: who did what. */
export interface Subject {
  readonly id: string;
  readonly principal: Principal;
  readonly token: Secret;
  readonly appliance?: string | undefined;
  readonly operation?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly reason?: string | undefined;
}

export type Particulars = Omit<
  AuditRecord,
  'request' | 'principal' | 'role' | 'appliance' | 'operation' | 'method' | 'path' | 'reason'
>;

/** Writes records to the audit, without secrets; of many refusals in a minute only their number. */
export interface Recorder {
  /** Writes a record. Rejects with `audit_unavailable` if it is not on disk. */
  record(subject: Subject, particulars: Particulars): Promise<AuditPosition>;
  /**
   * Writes a record of something that has happened. Does not reject: the journal logs and counts a
   * failure.
   */
  note(subject: Subject, particulars: Particulars): Promise<void>;
  /** Removes secrets from a text of the caller. */
  scrubbed(text: string, token: Secret): string;
  /** Writes the counted refusals before the journal closes; does not reject. */
  close(): Promise<void>;
}

export interface RecorderParts extends ScrubberParts {
  readonly journal: Pick<AuditJournal, 'append'>;
  readonly onLost: (error: unknown, subject: Pick<Subject, 'id'>) => void;
  readonly now: () => number;
  /** Maximum of refusals per principal and minute that are recorded one by one. */
  readonly maxDenialsPerMinute: number;
}

/** Placeholder for missing fields of the recorder's own records. */
const nobody = '-';
/** Paths of operations and reasons are shorter. */
const maxTextLength = 2_048;
/** Shorter: refusals are cheap to cause, and the client chooses their texts. */
const maxDeniedLength = 256;

export function createRecorder({ journal, keys, isToken, onLost, now, maxDenialsPerMinute }: RecorderParts): Recorder {
  const scrubber = createScrubber({ keys, isToken });
  const denials = createDenials({ now, maxPerMinute: maxDenialsPerMinute });

  function recordOf(subject: Subject, particulars: Particulars): AuditRecord {
    const { id, principal, token, appliance, operation, method, path, reason } = subject;
    const longest = particulars.event === 'denied' ? maxDeniedLength : maxTextLength;
    // Cut after scrubbing: half a secret would not be found.
    const shown = (text: string): string => scrubber.text(text, token).slice(0, longest);
    return {
      ...(scrubber.value(particulars, token) as Particulars),
      request: id,
      principal: principal.name,
      role: principal.role,
      ...(appliance === undefined ? {} : { appliance }),
      ...(operation === undefined ? {} : { operation }),
      method,
      path: shown(path),
      ...(reason === undefined ? {} : { reason: shown(reason) }),
    };
  }

  /** Does not reject: other records must not be lost with this one. */
  async function tellSuppressed(until: 'minute' | 'now'): Promise<void> {
    for (const suppressed of denials.take(until)) {
      try {
        await journal.append(recordOfMany(suppressed));
      } catch (error) {
        onLost(error, { id: nobody });
      }
    }
  }

  return {
    async record(subject, particulars) {
      await tellSuppressed('minute');
      try {
        return await journal.append(recordOf(subject, particulars));
      } catch (cause) {
        const why = cause instanceof AuditError && cause.reason === 'locked' ? lockedText : unwritableText;
        throw new AdminProblem('audit_unavailable', { ...why, headers: { 'retry-after': '30' }, cause });
      }
    },
    async note(subject, particulars) {
      await tellSuppressed('minute');
      if (particulars.event === 'denied' && !denials.admit(subject.principal)) return;
      try {
        await journal.append(recordOf(subject, particulars));
      } catch (error) {
        onLost(error, subject);
      }
    },
    scrubbed: (text, token) => scrubber.text(text, token),
    close: () => tellSuppressed('now'),
  };
}

const lockedText = {
  detail: 'Another exporter writes the audit, so nothing was sent. The log of this exporter says which one.',
  remedy: 'Stop the other exporter, or give each one an admin.audit_file of its own.',
};
const unwritableText = {
  detail: 'The audit cannot be written, so nothing was sent. The log of the exporter says why.',
  remedy:
    'Look at the disk and the rights of admin.audit_file; `zlb-exporter audit verify FILE` tells if it is damaged.',
};

function recordOfMany({ principal, count }: Suppressed): AuditRecord {
  return {
    event: 'denied',
    request: nobody,
    principal: principal.name,
    role: principal.role,
    method: nobody,
    path: nobody,
    suppressed: count,
  };
}
