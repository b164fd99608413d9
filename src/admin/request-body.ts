import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { BodyKind } from '../appliance/endpoints/row.ts';
import { assert, isRecord } from '../lib/check.ts';
import { oneLine } from '../lib/text.ts';
import { maskBody } from './mask.ts';
import { AdminProblem } from './problem.ts';
import { callerLeft } from './refusals.ts';
import { repeatedName } from './repeated-name.ts';
import type { AdminRequest } from './request.ts';
import type { TransferRate, Spool, Spooled } from './spool.ts';

/** A body as it goes to the appliance, and as it may be written down. */
export interface RequestBody {
  /** Exactly one of those that the appliance knows: it compares the whole header (docs/api.md §1.3). */
  readonly contentType: string;
  readonly contentLength: number;
  /** The fields of a JSON body; empty for any other. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** For the audit: without secrets, and of a file its length and digest alone. */
  readonly masked: unknown;
  /** Takes in a file, which stays with its sender until then; other bodies are here already. Rejects with an {@link AdminProblem}. */
  receive(principal: string, signal: AbortSignal): Promise<void>;
  /** Called once, when it is sent. A file fails when it is read more slowly than at this pace. */
  content(pace: TransferRate): Buffer | Readable;
  /** What has left so far; the digest, in lower-case hex, once a file left whole. */
  sent(): { readonly bytes: number; readonly sha256?: string };
  /** Gives back the room of a file, once it is not being sent any more. */
  release(): void;
}

export interface BodyLimits {
  /** Of a file: backups and packages. */
  readonly uploadBytes: number;
  /** How long a body may take; a file must keep a lowest rate from then on. */
  readonly patienceMs: number;
  readonly spool: Spool;
}

/** What is read into the memory: settings and certificates are far smaller. */
const wholeBytes = 1_048_576;
/** The lowest average rate of a file; that of a slow mobile line. */
export const minBytesPerSecond = 16_384;

const maxShownName = 100;

const acceptedTypes: Readonly<Record<Exclude<BodyKind, 'none'>, readonly string[]>> = {
  json: ['application/json'],
  text: ['text/plain', 'application/x-pem-file'],
  pem: ['application/x-pem-file', 'text/plain'],
  gzip: ['application/gzip'],
};

/** Reads what the operation takes, or refuses it; undefined for an operation without a body. */
export async function readRequestBody(
  kind: BodyKind,
  request: Pick<AdminRequest, 'contentType' | 'contentLength' | 'body'>,
  limits: BodyLimits,
): Promise<RequestBody | undefined> {
  if (kind === 'none') {
    if (request.body) throw bodyNotAllowed();
    return undefined;
  }
  const contentType = checkType(acceptedTypes[kind], request.contentType);
  if (kind === 'gzip') return fileBody(contentType, request, limits);
  refuseLong(request.contentLength, wholeBytes);
  const content = await readWhole(request.body, limits.patienceMs);
  return {
    contentType,
    contentLength: content.length,
    fields: kind === 'json' ? fieldsOf(content) : {},
    masked: maskBody(content, contentType),
    receive: () => Promise.resolve(),
    content: () => content,
    sent: () => ({ bytes: content.length }),
    release: () => undefined,
  };
}

/** Parameters such as a charset are common and harmless; the appliance refuses them, so that they stay here. */
function checkType(accepted: readonly string[], given: string | undefined): string {
  const type = given?.split(';')[0]?.trim().toLowerCase();
  if (type !== undefined && accepted.includes(type)) return type;
  throw new AdminProblem('wrong_content_type', {
    detail: `The operation takes ${accepted.join(' or ')}${given === undefined ? ', and the request names no type' : ''}; nothing was sent.`,
    remedy: `Send the header Content-Type: ${accepted[0]}.`,
  });
}

function fieldsOf(content: Buffer): Readonly<Record<string, unknown>> {
  // Older releases take nothing at all for "no parameters" (docs/api.md §1.3).
  if (content.length === 0) return {};
  try {
    const text = content.toString();
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) {
      refuseRepeated(text);
      return value;
    }
  } catch (error) {
    if (error instanceof AdminProblem) throw error;
    // Told below, without the parser's words: they hold what was sent.
  }
  throw new AdminProblem('malformed_body', {
    detail: 'The body is not a JSON object, which the appliance would fail on; nothing was sent.',
    remedy: 'Send an object such as {"action":"stop"}; GET …/parameters?operation=… tells what it may hold.',
  });
}

/** The guards and the audit know the last of two members with one name; a release may take the first. */
function refuseRepeated(json: string): void {
  const name = repeatedName(json);
  if (name === undefined) return;
  throw new AdminProblem('malformed_body', {
    detail: `The body has the member ${oneLine(JSON.stringify(name), maxShownName)} more than once in one object, so that it may mean two things; nothing was sent.`,
    remedy: 'Send each member once.',
  });
}

async function readWhole(body: Readable | undefined, patienceMs: number): Promise<Buffer> {
  if (!body) return Buffer.alloc(0);
  const whole = collect(body);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bodyTooSlow(patienceMs)), patienceMs);
  });
  try {
    return await Promise.race([whole, deadline]);
  } finally {
    clearTimeout(timer);
    // What comes of it after the deadline is of no interest.
    whole.catch(() => undefined);
  }
}

async function collect(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Left open when it is too long: destroying it would take away the socket that the refusal goes to.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    refuseLong(size, wholeBytes);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function fileBody(
  contentType: string,
  { body, contentLength }: Pick<AdminRequest, 'contentLength' | 'body'>,
  { uploadBytes, patienceMs, spool }: BodyLimits,
): RequestBody {
  if (!body || contentLength === undefined) {
    throw new AdminProblem('length_required', {
      detail: 'A file must come with its length, which the appliance insists on; nothing was sent.',
      remedy: 'Send the file with a Content-Length, not in chunks.',
    });
  }
  refuseLong(contentLength, uploadBytes);
  let spooled: Spooled | undefined;
  let sha256: string | undefined;
  let sentBytes = 0;
  return {
    contentType,
    contentLength,
    fields: {},
    get masked() {
      return { bytes: contentLength, ...(sha256 === undefined ? {} : { sha256 }) };
    },
    async receive(principal, signal) {
      const hash = createHash('sha256');
      spooled = await spool.take({
        principal,
        source: body,
        bytes: contentLength,
        signal,
        pace: { graceMs: patienceMs, bytesPerSecond: minBytesPerSecond, tooSlow: fileTooSlow },
        onChunk: (chunk) => void hash.update(chunk),
      });
      try {
        await spooled.whole;
      } catch (error) {
        spooled.release();
        throw error instanceof AdminProblem ? error : callerLeft();
      }
      sha256 = hash.digest('hex');
    },
    content(pace) {
      assert(spooled, 'a file is taken in before it is sent');
      return spooled.read({
        pace,
        onPiece: (bytes) => {
          sentBytes += bytes;
        },
      });
    },
    sent: () => ({ bytes: sentBytes, ...(sentBytes === contentLength && sha256 !== undefined ? { sha256 } : {}) }),
    release: () => spooled?.release(),
  };
}

function refuseLong(bytes: number | undefined, most: number): void {
  if (bytes === undefined || bytes <= most) return;
  throw new AdminProblem('body_too_large', {
    detail: `The body is longer than ${most} bytes; nothing was sent.`,
    remedy: 'Check what is sent; for backups and packages admin.upload_bytes is the limit.',
  });
}

function bodyTooSlow(patienceMs: number): AdminProblem {
  return new AdminProblem('body_too_slow', {
    detail: `The body did not arrive within ${patienceMs / 1_000} s.`,
    remedy: 'Check the connection of the client.',
  });
}

function fileTooSlow(): AdminProblem {
  return new AdminProblem('body_too_slow', {
    detail: `The file came at less than ${minBytesPerSecond} bytes a second; nothing was sent.`,
    remedy: 'Check the connection of the client, or send the file from a machine with a better one.',
  });
}

function bodyNotAllowed(): AdminProblem {
  return new AdminProblem('body_not_allowed', {
    detail: 'The operation takes no body, and the request carries one; nothing was sent.',
    remedy: 'Send the request without a body, Content-Length and Transfer-Encoding.',
  });
}
