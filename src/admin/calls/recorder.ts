import { isRecord } from '../../lib/check.ts';
import { minFindableLength, redacted, redactedCharacters, type Secret } from '../../lib/secret.ts';
import { oneLine } from '../../lib/text.ts';
import type { Alongside, Journal } from '../journal/journal.ts';
import { AuditError } from '../journal/failures.ts';
import { type AuditPosition, type AuditRecord, noRequest } from '../journal/record.ts';
import type { Caller, Principal } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { maskText } from './mask.ts';

/** The common part of all records of a request: who did what. */
export interface Subject extends Omit<Caller, 'signal'> {
  readonly id: string;
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

/**
 * Writes records to the journal, without secrets; of many refusals in a minute only their number.
 */
export interface Recorder {
  /**
   * Writes a record, and what goes with it. Rejects with `audit_unavailable` if it is not on disk.
   */
  record(subject: Subject, particulars: Particulars, alongside?: Alongside): Promise<AuditPosition>;
  /**
   * Writes a record of something that has happened. Does not reject: the journal logs and counts a
   * failure.
   */
  note(subject: Subject, particulars: Particulars): Promise<void>;
  /** Returns what a caller says, in one line and without secrets; null for nothing. */
  said(text: string | undefined, token: Secret, maxLength?: number): string | null;
  /** Returns true if a value has a token or a key in it, in any spelling. */
  holdsSecret(value: unknown, token: Secret): boolean;
  /** Writes the counted refusals before the journal closes; does not reject. */
  close(): Promise<void>;
}

export interface RecorderParts {
  readonly journal: Pick<Journal, 'append'>;
  /** Returns the present keys of the appliances. */
  readonly keys: () => readonly Secret[];
  /** Returns true if a word is any token. */
  readonly isToken: (word: string) => boolean;
  readonly onLost: (error: unknown, subject: Pick<Subject, 'id'>) => void;
  readonly now: () => number;
  /** Maximum of refusals per principal and minute that are recorded one by one. */
  readonly maxDenialsPerMinute: number;
}

export const maxReasonLength = 500;
/** Paths of operations and reasons are shorter. */
const maxTextLength = 2_048;
/** Maximum length in a refusal: refusals are cheap to cause, and the client chooses the text. */
const maxDeniedLength = 256;

export function createRecorder(parts: RecorderParts): Recorder {
  const { journal, onLost } = parts;
  const denials = createDenials(parts);

  function recordOf(subject: Subject, particulars: Particulars): AuditRecord {
    const { id, principal, token, appliance, operation, method, path, reason } = subject;
    const withoutSecrets = secretRemover(parts, token);
    const longest = particulars.event === 'denied' ? maxDeniedLength : maxTextLength;
    // Cut after scrubbing: half a secret would not be found.
    const shown = (text: string): string => scrubText(text, withoutSecrets).slice(0, longest);
    return {
      ...(scrubValue(particulars, withoutSecrets) as Particulars),
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
    const { request, method, path } = noRequest;
    for (const { principal, count: suppressed } of denials.take(until)) {
      const { name, role } = principal;
      try {
        await journal.append({ request, method, path, event: 'denied', principal: name, role, suppressed });
      } catch (error) {
        onLost(error, { id: request });
      }
    }
  }

  return {
    async record(subject, particulars, alongside) {
      await tellSuppressed('minute');
      return await journal.append(recordOf(subject, particulars), alongside).catch(unavailable);
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
    said: (text, token, maxLength = maxReasonLength) =>
      text === undefined ? null : oneLine(scrubText(text, secretRemover(parts, token)), maxLength),
    holdsSecret: (value, token) =>
      JSON.stringify(scrubValue(value, secretRemover(parts, token))) !== JSON.stringify(value),
    close: () => tellSuppressed('now'),
  };
}

/** Throws the refusal of what the journal cannot keep; for `catch`. */
export function unavailable(cause: unknown): never {
  const why = cause instanceof AuditError && cause.reason === 'locked' ? lockedText : unwritableText;
  throw new AdminProblem('audit_unavailable', { ...why, headers: { 'retry-after': '30' }, cause });
}

const lockedText = {
  detail: 'Another exporter writes the journal, so nothing was sent. The log of this exporter says which one.',
  remedy: 'Stop the other exporter, or give each one an admin.journal_file of its own.',
};
const unwritableText = {
  detail: 'The journal cannot be written, so nothing was sent. The log of the exporter says why.',
};

/** The refusals of a principal in a minute: those recorded one by one, and the others. */
interface Tally {
  readonly principal: Principal;
  readonly minute: number;
  readonly written: number;
  readonly count: number;
}

/** Limits the recorded refusals: a client without permissions could fill the disk with them. */
function createDenials({ now, maxDenialsPerMinute }: Pick<RecorderParts, 'now' | 'maxDenialsPerMinute'>) {
  // By name, so the configuration bounds its size.
  const tallies = new Map<string, Tally>();
  const thisMinute = (): number => Math.floor(now() / 60_000);
  return {
    /**
     * Returns true if another refusal of this principal may be recorded in this minute; otherwise
     * counts it. Drain finished minutes first.
     */
    admit(principal: Principal): boolean {
      const tally = tallies.get(principal.name) ?? { principal, minute: thisMinute(), written: 0, count: 0 };
      const isAdmitted = tally.written < maxDenialsPerMinute;
      tallies.set(
        principal.name,
        isAdmitted ? { ...tally, written: tally.written + 1 } : { ...tally, count: tally.count + 1 },
      );
      return isAdmitted;
    },
    /** Drains the counts of finished minutes, or including the current one. */
    take(until: 'minute' | 'now'): readonly Tally[] {
      const minute = thisMinute();
      // Any other minute: the clock may have been set back.
      const over = [...tallies.values()].filter((tally) => until === 'now' || tally.minute !== minute);
      for (const { principal } of over) tallies.delete(principal.name);
      return over.filter(({ count }) => count > 0);
    },
  };
}

/**
 * Matches the separators between possible tokens: blanks, slashes, any character that tokens do not
 * contain.
 */
const words = [/\S+/g, /[^\s/]+/g, /[\w-]+/g] as const;
/** Matches a word of a token in which characters are percent-encoded. */
const encodedWord = /[\w-]*(?:%[0-9a-f]{2}[\w-]*)+/gi;
/** A path is encoded once, or by mistake twice. */
const maxEncodings = 4;

type RemoveSecrets = (text: string) => string;

/** Returns a function that removes the caller's token, other tokens and the keys from a text. */
function secretRemover({ keys, isToken }: Pick<RecorderParts, 'keys' | 'isToken'>, token: Secret): RemoveSecrets {
  const secrets = [token, ...keys()].filter((secret) => secret.reveal().length >= minFindableLength);
  const hidden = (word: string): string => (word.length >= minFindableLength && isToken(word) ? redacted : word);
  return (text) =>
    words.reduce(
      (scrubbed, pattern) => scrubbed.replaceAll(pattern, hidden),
      secrets.reduce((scrubbed, secret) => secret.scrub(scrubbed), text),
    );
}

/**
 * Removes secrets from a text of the caller, also percent-encoded ones, and masks it like texts in
 * bodies.
 */
function scrubText(given: string, withoutSecrets: RemoveSecrets): string {
  return scrubEncoded(given, (text) => maskText(withoutSecrets(text)));
}

/** Removes secrets from a text, also percent-encoded ones. */
function scrubEncoded(given: string, scrub: RemoveSecrets, encodings = maxEncodings): string {
  const clean = scrub(given);
  const decoded = percentDecodedLeniently(clean);
  if (decoded === clean) return clean;
  if (encodings === 0) return clean.replaceAll(encodedWord, (word) => redactedCharacters(word.length));
  // Unchanged unless it contains a secret.
  const cleanInside = scrubEncoded(decoded, scrub, encodings - 1);
  return cleanInside === decoded ? clean : cleanInside;
}

/** Removes secrets from a masked value, also from its field names. */
function scrubValue(given: unknown, withoutSecrets: RemoveSecrets): unknown {
  if (typeof given === 'string') return scrubEncoded(given, withoutSecrets);
  if (Array.isArray(given)) return given.map((item) => scrubValue(item, withoutSecrets));
  if (!isRecord(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, inner]) => [
      scrubEncoded(name, withoutSecrets),
      scrubValue(inner, withoutSecrets),
    ]),
  );
}

/**
 * Decodes like decodeURIComponent, but skips malformed parts, which must not hide a secret in the
 * rest.
 */
function percentDecodedLeniently(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
