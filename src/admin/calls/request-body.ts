import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { BodyKind } from '../../appliance/api/row.ts';
import { faultOf } from '../../appliance/reply-bounds.ts';
import type { AuditRecord } from '../journal/record.ts';
import { assert, isRecord, parseJson } from '../../lib/check.ts';
import { TooManyPartsError } from '../../lib/counted-request.ts';
import { readWhole } from '../../lib/growing-buffer.ts';
import { oneLine } from '../../lib/text.ts';
import { inTime } from '../../lib/time.ts';
import { type BodyMemory, type BufferedBody, maxBodyBytes, minBytesPerSecond, type Pace } from './body-memory.ts';
import { maskBody } from './mask.ts';
import { bodyTypes } from '../policy/operation.ts';
import { AdminProblem, callerLeft } from '../policy/problem.ts';

export interface UnreadBody {
  readonly contentType: string | undefined;
  /** Bytes, if the caller sent the header. */
  readonly contentLength: number | undefined;
  readonly body: Readable | undefined;
  /** The quota of its sender. */
  readonly quota?: BodyQuota;
}

/** Limits the bytes that a sender brings into memory. */
export interface BodyQuota {
  /** Reserves bytes before they are read; throws an {@link AdminProblem} beyond the quota. */
  reserve(bytes: number): void;
  /** Charges bytes that were read; throws likewise. */
  charge(bytes: number): void;
}

/** A body for the appliance, and its form for the audit. */
export interface RequestBody {
  /** Exactly one of the appliance's types: it compares the whole header (docs/api.md §1.3). */
  readonly contentType: string;
  readonly contentLength: number;
  /** The fields of a JSON body; empty for other bodies. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The whole content; undefined for a file. */
  readonly inMemory: Buffer | undefined;
  /** For the audit: without secrets; of a file only length and digest. */
  readonly masked: unknown;
  /** SHA-256 of the exact bytes, in lower-case hex; undefined before a file is received. */
  readonly sha256: string | undefined;
  /**
   * Receives a file, which stays with its sender until then; other bodies have been received
   * already. Rejects with an {@link AdminProblem}.
   */
  receive(principal: string, signal: AbortSignal): Promise<void>;
  /**
   * Returns the content; called once, to send it. A file fails if it is read more slowly than at
   * this pace.
   */
  content(pace: Pace): Buffer | Readable;
  /** Returns for the audit what was sent so far, and the digest after a complete file. */
  sent(): Pick<AuditRecord, 'sent_bytes' | 'sent_sha256'>;
  /** Frees the memory of a file, which is no longer being sent. */
  release(): void;
}

export interface BodyLimits {
  /** Time for a whole body; a file must keep the minimum rate afterwards. */
  readonly timeoutMs: () => number;
  /** Holds files until the appliance has taken them. */
  readonly memory: BodyMemory;
}

/** Maximum size of a body that is not a file; settings and certificates are far smaller. */
const maxInMemoryBytes = 1_048_576;
/** Maximum of values in a JSON body; those of thousands of alerts are most. */
export const maxValues = 65_536;
const maxShownName = 100;

/**
 * Returns a body that is in memory, or refuses it; undefined for an operation without a body.
 * Throws an {@link AdminProblem}.
 */
export function bodyOf(
  kind: BodyKind,
  given: { readonly type: string; readonly bytes: Buffer } | undefined,
): RequestBody | undefined {
  if (kind === 'none') {
    if (given) throw bodyNotAllowed();
    return undefined;
  }
  const contentType = acceptedType(bodyTypes[kind], given?.type);
  const bytes = given?.bytes ?? Buffer.alloc(0);
  if (bytes.length > maxInMemoryBytes) throw tooLong(maxInMemoryBytes);
  return bodyInMemory(kind, contentType, bytes);
}

/**
 * Reads the body that the operation takes, or refuses it; undefined for an operation without a
 * body.
 */
export async function readRequestBody(
  kind: BodyKind,
  request: UnreadBody,
  limits: BodyLimits,
): Promise<RequestBody | undefined> {
  if (kind === 'none') {
    if (request.body) throw bodyNotAllowed();
    return undefined;
  }
  const contentType = acceptedType(bodyTypes[kind], request.contentType);
  if (kind === 'gzip') return fileBody(contentType, request, limits);
  const { contentLength = 0, body, quota } = request;
  if (contentLength > maxInMemoryBytes) throw tooLong(maxInMemoryBytes);
  const timeoutMs = limits.timeoutMs();
  // Reading and parsing cost time that all share: what is refused is not read.
  quota?.reserve(contentLength);
  const tooSlow = () =>
    new AdminProblem('body_too_slow', { detail: `The body did not arrive within ${timeoutMs / 1_000} s.` });
  const content = body ? await inTime(readInMemory(body), timeoutMs, tooSlow) : Buffer.alloc(0);
  quota?.charge(content.length - contentLength);
  return bodyInMemory(kind, contentType, content);
}

function bodyInMemory(kind: BodyKind, contentType: string, content: Buffer): RequestBody {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return {
    contentType,
    contentLength: content.length,
    sha256,
    fields: kind === 'json' ? parseFields(content) : {},
    inMemory: content,
    masked: maskBody(content, contentType),
    receive: () => Promise.resolve(),
    content: () => content,
    sent: () => ({ sent_bytes: content.length, sent_sha256: sha256 }),
    release: () => undefined,
  };
}

/** Removes parameters such as a charset, which are harmless and which the appliance refuses. */
function acceptedType(accepted: readonly string[], given: string | undefined): string {
  const type = given?.split(';')[0]?.trim().toLowerCase();
  if (type !== undefined && accepted.includes(type)) return type;
  throw new AdminProblem('wrong_content_type', {
    detail: `The operation takes ${accepted.join(' or ')}${given === undefined ? ', and the request names no type' : ''}; nothing was sent.`,
    remedyValue: accepted[0],
  });
}

function parseFields(content: Buffer): Readonly<Record<string, unknown>> {
  // Older releases take an empty body for "no parameters" (docs/api.md §1.3).
  if (content.length === 0) return {};
  const text = decodeUtf8(content);
  // Parsing and all that reads the value later would take long, or fail.
  const fault = faultOf(text, maxValues);
  if (fault?.reason === 'malformed') throw ambiguous('is nested too deep', 'Send it flat.');
  if (fault) throw tooManyValues();
  const value = parseJson(text);
  if (isRecord(value)) {
    assertUniqueNames(text);
    assertExactNumbers(text);
    return value;
  }
  // Without the parser's message: it quotes the body.
  throw new AdminProblem('malformed_body', {
    detail: 'The body is not a JSON object; nothing was sent.',
    remedy: 'Send an object, such as {"action":"stop"} to an appliance; GET /docs shows what each path takes.',
  });
}

/** Decodes a body; refuses bytes that readers decode differently. */
function decodeUtf8(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw ambiguous('is not UTF-8', 'Send it as UTF-8.');
  }
}

/**
 * Refuses numbers that guards, plan and audit would see as others than the appliance: those beyond
 * all numbers of JavaScript, and whole ones that it rounds.
 */
function assertExactNumbers(json: string): void {
  for (const [token] of json.matchAll(stringOrNumber)) {
    if (token.startsWith('"')) continue;
    const isWhole = /^-?\d+$/.test(token);
    if (
      token.length > maxNumberLength ||
      !Number.isFinite(Number(token)) ||
      (isWhole && !Number.isSafeInteger(Number(token)))
    )
      throw ambiguous(`has the number ${oneLine(token, 40)}, which is rounded`, 'Send a shorter number, or a text.');
  }
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const maxNumberLength = 40;

/** Returns the refusal of a body that would be sent as another one than was checked. */
function ambiguous(because: string, remedy: string): AdminProblem {
  return new AdminProblem('malformed_body', {
    detail: `The body ${because}; nothing was sent.`,
    remedy,
  });
}

/** Refuses repeated names: guards and audit see the last value, and a release may use the first. */
function assertUniqueNames(json: string): void {
  const name = repeatedName(json);
  if (name === undefined) return;
  const member = oneLine(JSON.stringify(name), maxShownName);
  throw ambiguous(
    `has the member ${member} more than once in one object, so that it may mean two things`,
    'Send each member once.',
  );
}

/**
 * Finds a name that one object of a JSON text has twice, at any depth; escaped spellings count as
 * the letters that they stand for. Readers differ in which of the two they take. The text must be
 * valid JSON.
 */
export function repeatedName(json: string): string | undefined {
  /** The names so far of each enclosing object, innermost last; undefined for a list. */
  const enclosing: (Set<string> | undefined)[] = [];
  // No recursion: the sender chooses the depth.
  for (const [sign, text = '', colon] of json.matchAll(stringOrBracket)) {
    if (sign === '{') enclosing.push(new Set());
    else if (sign === '[') enclosing.push(undefined);
    else if (sign === '}' || sign === ']') enclosing.pop();
    else if (colon !== undefined) {
      const names = enclosing.at(-1);
      const name = String(JSON.parse(text));
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/** Matches a string, with the colon that makes it a name, or a bracket outside of strings. */
const stringOrBracket = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g;

async function readInMemory(body: Readable): Promise<Buffer> {
  // Not destroyed if it is too long: that would close the socket of the refusal.
  const whole = readWhole(body.iterator({ destroyOnReturn: false }), maxInMemoryBytes, () => tooLong(maxInMemoryBytes));
  return await whole.catch((error: unknown) => {
    throw error instanceof TooManyPartsError ? tooManyParts(error) : error;
  });
}

function fileBody(
  contentType: string,
  { body, contentLength }: UnreadBody,
  { timeoutMs, memory }: BodyLimits,
): RequestBody {
  if (!body || contentLength === undefined) {
    throw new AdminProblem('length_required', {
      detail: 'A file needs a Content-Length, which the appliance requires; nothing was sent.',
    });
  }
  if (contentLength > maxBodyBytes) throw tooLong(maxBodyBytes, uploadByHand);
  let buffered: BufferedBody | undefined;
  let sha256: string | undefined;
  return {
    contentType,
    contentLength,
    fields: {},
    inMemory: undefined,
    get sha256() {
      return sha256;
    },
    get masked() {
      return { bytes: contentLength, ...(sha256 === undefined ? {} : { sha256 }) };
    },
    async receive(principal, signal) {
      const hash = createHash('sha256');
      const pace = { graceMs: timeoutMs(), tooSlow: fileTooSlow };
      const onPart = (part: Buffer) => void hash.update(part);
      try {
        buffered = await memory.receive({ principal, source: body, length: contentLength, signal, pace, onPart });
      } catch (error) {
        if (error instanceof TooManyPartsError) throw tooManyParts(error);
        throw error instanceof AdminProblem ? error : callerLeft();
      }
      sha256 = hash.digest('hex');
    },
    content(pace) {
      assert(buffered, 'a file is received before it is sent');
      return buffered.watch(pace);
    },
    sent: () => ({
      sent_bytes: buffered?.bytesRead ?? 0,
      ...(buffered?.bytesRead === contentLength && sha256 !== undefined ? { sent_sha256: sha256 } : {}),
    }),
    release: () => void buffered?.destroy(),
  };
}

const uploadByHand =
  'Upload it in the web interface of the appliance, or send it to its own API; docs/admin.md has the command.';

function tooLong(most: number, remedy?: string): AdminProblem {
  const detail = `The body is longer than ${most} bytes; nothing was sent.`;
  return new AdminProblem('body_too_large', { detail, ...(remedy && { remedy }) });
}

function tooManyValues(): AdminProblem {
  return new AdminProblem('body_too_large', {
    detail: `The body has more than ${maxValues} values; nothing was sent.`,
    remedy: 'Send it in several requests.',
  });
}

function tooManyParts({ message }: TooManyPartsError): AdminProblem {
  return new AdminProblem('body_too_large', {
    detail: `${oneLine(message, 200)}; nothing was sent.`,
    remedy: 'Send the body in fewer and longer parts, such as with a Content-Length.',
  });
}

function fileTooSlow(): AdminProblem {
  return new AdminProblem('body_too_slow', {
    detail: `The file came at less than ${minBytesPerSecond} bytes a second; nothing was sent.`,
  });
}

function bodyNotAllowed(): AdminProblem {
  return new AdminProblem('body_not_allowed', {
    detail: 'The operation takes no body, and the request carries one; nothing was sent.',
  });
}
