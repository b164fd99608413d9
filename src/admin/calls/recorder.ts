import { isRecord } from '../../lib/check.ts';
import { TokenBuckets } from '../../lib/token-bucket.ts';
import { minFindableLength, redacted, redactedCharacters, type Secret } from '../../lib/secret.ts';
import { oneLine } from '../../lib/text.ts';
import type { StateUpdate, Journal } from '../journal/journal.ts';
import { JournalError } from '../journal/failures.ts';
import { type AuditPosition, type AuditRecord, noRequest } from '../journal/record.ts';
import type { Caller, Principal, Role } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { maskText } from './mask.ts';

/** The common part of all records of a request: who did what. */
export interface AuditSubject extends Omit<Caller, 'signal'> {
  readonly id: string;
  readonly appliance?: string | undefined;
  readonly operation?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly reason?: string | undefined;
}

export type EventFields = Omit<
  AuditRecord,
  'request' | 'principal' | 'role' | 'address' | 'appliance' | 'operation' | 'method' | 'path' | 'reason'
>;

/**
 * Writes records to the journal, without secrets; of many refusals in a minute only their number.
 */
export type Recorder = ReturnType<typeof createRecorder>;

export interface RecorderParts {
  readonly journal: Pick<Journal, 'append'>;
  readonly keys: () => readonly Secret[];
  readonly isToken: (word: string) => boolean;
  readonly onLost: (error: unknown, subject: Pick<AuditSubject, 'id'>) => void;
  /** Milliseconds of a monotonic clock. */
  readonly steadyNow: () => number;
  /** Maximum of refusals per principal and minute that are recorded one by one. */
  readonly maxDenialsPerMinute: number;
}

export const maxReasonLength = 500;
/** Paths of operations and reasons are shorter. */
const maxTextLength = 2_048;
/** Maximum length in a refusal: refusals are cheap to cause, and the client chooses the text. */
const maxDeniedLength = 256;
/** Texts of a caller are cut to this length before secrets are looked for: that takes time. */
const maxReadLength = 4_096;

const minuteMs = 60_000;

export function createRecorder(parts: RecorderParts) {
  const { journal, onLost, steadyNow, maxDenialsPerMinute } = parts;
  // A client without permissions could fill the disk with refusals.
  const denials = TokenBuckets.perMinute(maxDenialsPerMinute, steadyNow);
  /** The refusals that are only counted, by principal, so that the configuration bounds them. */
  const suppressed = new Map<string, Suppressed>();

  function recordOf(subject: AuditSubject, fields: EventFields): AuditRecord {
    const { id, principal, token, address, appliance, operation, method, path, reason } = subject;
    const removeSecrets = secretRemover(parts, [token]);
    const longest = fields.event === 'denied' ? maxDeniedLength : maxTextLength;
    // Cut after scrubbing: half a secret would not be found.
    const shorten = (text: string): string => scrubText(text, removeSecrets).slice(0, longest);
    return {
      ...(scrubValue(fields, removeSecrets) as EventFields),
      request: id,
      principal: principal.name,
      role: principal.role,
      address,
      ...(appliance === undefined ? {} : { appliance }),
      ...(operation === undefined ? {} : { operation }),
      method,
      path: shorten(path),
      ...(reason === undefined ? {} : { reason: shorten(reason) }),
    };
  }

  /** Returns true if another refusal of a principal is recorded; otherwise counts it. */
  function allowDenialRecord({ name: principal, role }: Principal): boolean {
    if (denials.tryTake(principal)) return true;
    const { sinceSteadyMs = steadyNow(), count = 0 } = suppressed.get(principal) ?? {};
    suppressed.set(principal, { principal, role, sinceSteadyMs, count: count + 1 });
    return false;
  }

  /** Records the numbers that are this old. Does not reject: other records must not be lost. */
  async function recordSuppressed(ageMs = minuteMs): Promise<void> {
    for (const { principal, role, sinceSteadyMs, count } of suppressed.values()) {
      if (steadyNow() - sinceSteadyMs < ageMs) continue;
      suppressed.delete(principal);
      const record = { ...noRequest, event: 'denied', principal, role, suppressed: count } as const;
      await journal.append(record).catch((error: unknown) => onLost(error, { id: noRequest.request }));
    }
  }

  return {
    /**
     * Writes a record, and what goes with it. Rejects with `audit_unavailable` if it is not on
     * disk.
     */
    async recordOrRefuse(subject: AuditSubject, fields: EventFields, update?: StateUpdate): Promise<AuditPosition> {
      await recordSuppressed();
      return await journal.append(recordOf(subject, fields), update).catch(throwUnavailable);
    },
    /**
     * Writes a record of something that has happened. Does not reject: the journal logs and counts
     * a failure.
     */
    async recordBestEffort(subject: AuditSubject, fields: EventFields): Promise<void> {
      await recordSuppressed();
      if (fields.event === 'denied' && !allowDenialRecord(subject.principal)) return;
      try {
        await journal.append(recordOf(subject, fields));
      } catch (error) {
        onLost(error, subject);
      }
    },
    /**
     * Returns what a caller or an appliance says, in one line and without secrets; null for nothing.
     * `sent` has what was sent, and may come back.
     */
    redact: (
      text: string | undefined,
      token: Secret,
      maxLength = maxReasonLength,
      sent: readonly Secret[] = [],
    ): string | null =>
      text === undefined ? null : oneLine(scrubText(text, secretRemover(parts, [token, ...sent])), maxLength),
    /** Returns true if a value has a token or a key in it, in any spelling. */
    holdsSecret: (value: unknown, token: Secret): boolean =>
      JSON.stringify(scrubValue(value, secretRemover(parts, [token]))) !== JSON.stringify(value),
    /** Writes the counted refusals before the journal closes; does not reject. */
    close: () => recordSuppressed(0),
  };
}

/** Throws the refusal of what the journal cannot keep; for `catch`. */
export function throwUnavailable(cause: unknown): never {
  const why = cause instanceof JournalError && cause.reason === 'locked' ? lockedText : unwritableText;
  throw new AdminProblem('audit_unavailable', { ...why, headers: { 'retry-after': '30' }, cause });
}

const lockedText = {
  detail: 'Another exporter writes the journal, so nothing was sent. The log of this exporter says which one.',
  remedy: 'Stop the other exporter, or give each one an admin.journal_file of its own.',
};
const unwritableText = {
  detail: 'The journal cannot be written, so nothing was sent. The log of the exporter says why.',
};

/** The refusals of a principal that were too many in a minute to be recorded one by one. */
interface Suppressed {
  readonly principal: string;
  readonly role: Role;
  readonly sinceSteadyMs: number;
  readonly count: number;
}

/**
 * Matches the separators between possible tokens: blanks, slashes, any character that tokens do not
 * contain.
 */
const words = [/\S+/g, /[^\s/]+/g, /[\w-]+/g] as const;
/** Matches a word of a token in which characters are percent-encoded. */
const encodedWord = /(?<![\w-])[\w-]*(?:%[0-9a-f]{2}[\w-]*)+/gi;
/** A path is encoded once, or by mistake twice. */
const maxEncodings = 4;

type RemoveSecrets = (text: string) => string;

/** Returns a function that removes these secrets, all tokens and the keys from a text. */
function secretRemover(
  { keys, isToken }: Pick<RecorderParts, 'keys' | 'isToken'>,
  own: readonly Secret[],
): RemoveSecrets {
  const secrets = [...own, ...keys()].filter((secret) => secret.reveal().length >= minFindableLength);
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
  return scrubEncoded(beginningOf(given), (text) => maskText(withoutSecrets(text)));
}

/** Cuts a long text after a whole word or segment: half a secret would not be found. */
function beginningOf(text: string): string {
  if (text.length <= maxReadLength) return text;
  const beginning = text.slice(0, maxReadLength);
  const end = Math.max(...[' ', '\n', '/'].map((separator) => beginning.lastIndexOf(separator)));
  return `${beginning.slice(0, end + 1)}… (${text.length} characters)`;
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
