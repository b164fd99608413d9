import type { Secret } from '../lib/secret.ts';
import type { AuditJournal } from './audit/journal.ts';
import type { AuditPosition, AuditRecord } from './audit/record.ts';
import type { Principal } from './principal.ts';
import { AdminProblem } from './problem.ts';

/** Who did what, as every record of a request begins. */
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

/** Writes what the gateway did into the audit, without the secrets it may have come across. */
export interface Recorder {
  /** Rejects with `audit_unavailable` when it is not on disk. */
  record(subject: Subject, particulars: Particulars): Promise<AuditPosition>;
  /** For what can no longer be prevented: a failure is logged and counted by the journal, and does not reject. */
  note(subject: Subject, particulars: Particulars): Promise<void>;
  /** A text of the caller as it may be kept and shown to others. */
  scrubbed(text: string, token: Secret): string;
}

export interface RecorderParts {
  readonly journal: Pick<AuditJournal, 'append'>;
  /** Keys of the appliances, which a careless caller may have put into a path or a reason. */
  readonly keys: readonly Secret[];
  readonly onLost: (error: unknown, subject: Subject) => void;
}

export function createRecorder({ journal, keys, onLost }: RecorderParts): Recorder {
  async function append(subject: Subject, particulars: Particulars): Promise<AuditPosition> {
    const { id, principal, appliance, operation, method, path, reason } = subject;
    const record = {
      ...particulars,
      request: id,
      principal: principal.name,
      role: principal.role,
      ...(appliance === undefined ? {} : { appliance }),
      ...(operation === undefined ? {} : { operation }),
      method,
      path,
      ...(reason === undefined ? {} : { reason }),
    };
    const safe = scrubbed(record, [subject.token, ...keys]);
    // Cut only now: half a secret would not be found.
    return await journal.append({ ...safe, path: safe.path.slice(0, longestPath) });
  }

  return {
    async record(subject, particulars) {
      try {
        return await append(subject, particulars);
      } catch (cause) {
        throw new AdminProblem('audit_unavailable', {
          detail: 'The audit cannot be written, so nothing was sent. The log of the exporter says why.',
          remedy:
            'Look at the disk and the rights of admin.audit_file; `zlb-exporter audit verify FILE` tells if it is damaged.',
          headers: { 'retry-after': '30' },
          cause,
        });
      }
    },
    async note(subject, particulars) {
      try {
        await append(subject, particulars);
      } catch (error) {
        onLost(error, subject);
      }
    },
    scrubbed: (text, token) => scrubText(text, [token, ...keys]),
  };
}

/** Of a request that was refused; the paths of operations are shorter. */
const longestPath = 2_048;
/** Secrets as short as a word would blank out words. */
const shortestScrubbed = 8;

function scrubbed(record: AuditRecord, secrets: readonly Secret[]): AuditRecord {
  const scrub = (value: unknown): unknown => {
    if (typeof value === 'string') return scrubText(value, secrets);
    if (Array.isArray(value)) return value.map(scrub);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [scrubText(name, secrets), scrub(inner)]));
  };
  return scrub(record) as AuditRecord;
}

function scrubText(text: string, secrets: readonly Secret[]): string {
  const known = secrets.filter((secret) => secret.reveal().length >= shortestScrubbed);
  return known.reduce((scrubbed, secret) => secret.scrub(scrubbed), text);
}
