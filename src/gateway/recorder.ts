import { minFindableLength, redacted, type Secret } from '../lib/secret.ts';
import { AuditError } from '../audit/record.ts';
import type { AuditJournal } from '../audit/journal.ts';
import type { AuditPosition, AuditRecord } from '../audit/record.ts';
import type { Principal } from './principal.ts';
import { AdminProblem } from './problem.ts';
import { maskText } from './mask.ts';

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
/** Maximum length in a refusal: refusals are cheap to cause, and the client chooses the text. */
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

/** The number of refusals of a principal that were not recorded one by one. */
interface Suppressed {
  readonly principal: Principal;
  readonly count: number;
}

/** Limits the recorded refusals: a client without permissions could fill the disk with them. */
interface Denials {
  /**
   * Returns true if another refusal of this principal may be recorded in this minute; otherwise
   * counts it. Drain finished minutes first.
   */
  admit(principal: Principal): boolean;
  /** Drains the counts of finished minutes, or including the current one. */
  take(until: 'minute' | 'now'): readonly Suppressed[];
}

interface DenialsParts {
  readonly now: () => number;
  /** Per principal. */
  readonly maxPerMinute: number;
}

interface Tally extends Suppressed {
  readonly minute: number;
  readonly written: number;
}

function createDenials({ now, maxPerMinute }: DenialsParts): Denials {
  // By name, so the configuration bounds its size.
  const tallies = new Map<string, Tally>();
  const thisMinute = (): number => Math.floor(now() / 60_000);
  return {
    admit(principal) {
      const tally = tallies.get(principal.name) ?? { principal, minute: thisMinute(), written: 0, count: 0 };
      const isAdmitted = tally.written < maxPerMinute;
      tallies.set(
        principal.name,
        isAdmitted ? { ...tally, written: tally.written + 1 } : { ...tally, count: tally.count + 1 },
      );
      return isAdmitted;
    },
    take(until) {
      const minute = thisMinute();
      // Any other minute: the clock may have been set back.
      const over = [...tallies].filter(([, tally]) => until === 'now' || tally.minute !== minute);
      for (const [name] of over) tallies.delete(name);
      return over.map(([, tally]) => tally).filter(({ count }) => count > 0);
    },
  };
}

/** Removes secrets from texts and values of callers. */
interface Scrubber {
  /**
   * Removes known tokens and keys (plain or percent-encoded) from a text, and masks it like texts
   * in bodies.
   */
  text(text: string, token: Secret): string;
  /** Removes known tokens and keys from a masked value, also from its field names. */
  value(value: unknown, token: Secret): unknown;
}

interface ScrubberParts {
  /** Returns the present keys of the appliances. */
  readonly keys: () => readonly Secret[];
  /** Returns true if a word is any token. */
  readonly isToken: (word: string) => boolean;
}

/**
 * Matches the separators between possible tokens: blanks, slashes, any character that tokens do not
 * contain.
 */
const words = [/\S+/g, /[^\s/]+/g, /[\w-]+/g] as const;
/** A path is encoded once, or by mistake twice. */
const maxEncodings = 4;

function createScrubber({ keys, isToken }: ScrubberParts): Scrubber {
  const known = (text: string, token: Secret): string => {
    const secrets = [token, ...keys()].filter((secret) => secret.reveal().length >= minFindableLength);
    const withoutKnown = secrets.reduce((scrubbed, secret) => secret.scrub(scrubbed), text);
    return words.reduce(
      (scrubbed, pattern) =>
        scrubbed.replaceAll(pattern, (word) => (word.length >= minFindableLength && isToken(word) ? redacted : word)),
      withoutKnown,
    );
  };

  const text = (given: string, token: Secret, encodings = maxEncodings): string => {
    const clean = maskText(known(given, token));
    const decoded = percentDecoded(clean);
    if (decoded === clean) return clean;
    if (encodings === 0) return redacted;
    const cleanInside = text(decoded, token, encodings - 1);
    // Unchanged unless it contains a secret.
    return cleanInside === decoded ? clean : cleanInside;
  };

  const value = (given: unknown, token: Secret): unknown => {
    if (typeof given === 'string') return known(given, token);
    if (Array.isArray(given)) return given.map((item) => value(item, token));
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([name, inner]) => [known(name, token), value(inner, token)]));
  };

  return { text: (given, token) => text(given, token), value };
}

/**
 * Decodes like decodeURIComponent, but skips malformed parts, which must not hide a secret in the
 * rest.
 */
function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
