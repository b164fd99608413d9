import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import type { BodyKind } from '../appliance/endpoints/row.ts';
import { isRecord } from '../lib/check.ts';
import { oneLine } from '../lib/one-line.ts';
import { maskBody } from './mask.ts';
import { AdminProblem } from './problem.ts';
import { repeatedName } from './repeated-name.ts';
import type { AdminRequest } from './request.ts';

/** A body as it goes to the appliance, and as it may be written down. */
export interface RequestBody {
  /** Exactly one of those that the appliance knows: it compares the whole header (docs/api.md §1.3). */
  readonly contentType: string;
  /** Called once, when it is sent: before that nothing of a stream is touched. */
  readonly content: () => Buffer | Readable;
  readonly contentLength: number;
  /** The fields of a JSON body; empty for any other. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** For the audit; of a stream nothing is known before it was sent. */
  readonly masked: unknown;
  /** What has left so far; the digest, in lower-case hex, once a stream left whole. */
  readonly sent: () => { readonly bytes: number; readonly sha256?: string };
  /** Why the sender's stream ended before its end. */
  readonly problem: () => AdminProblem | undefined;
}

export interface BodyLimits {
  /** Of what is streamed: backups and packages. */
  readonly uploadBytes: number;
  /** How long a body may take, or, where it is streamed, stand still. */
  readonly patienceMs: number;
}

/** What is read whole: settings and certificates are far smaller. */
const wholeBytes = 1_048_576;

const maxShownName = 100;

const acceptedTypes: Readonly<Record<Exclude<BodyKind, 'none'>, readonly string[]>> = {
  json: ['application/json'],
  text: ['text/plain', 'application/x-pem-file'],
  pem: ['application/x-pem-file', 'text/plain'],
  gzip: ['application/gzip'],
};

/** Reads what the operation takes, or refuses it; undefined for an operation without a body. */
export async function readBody(
  kind: BodyKind,
  request: Pick<AdminRequest, 'contentType' | 'contentLength' | 'body'>,
  limits: BodyLimits,
): Promise<RequestBody | undefined> {
  if (kind === 'none') {
    if (request.body) throw bodyNotAllowed();
    return undefined;
  }
  const contentType = checkType(acceptedTypes[kind], request.contentType);
  if (kind === 'gzip') return streamed(contentType, request, limits);
  refuseLong(request.contentLength, wholeBytes);
  const content = await readWhole(request.body, limits.patienceMs);
  return {
    contentType,
    content: () => content,
    contentLength: content.length,
    fields: kind === 'json' ? fieldsOf(content) : {},
    masked: maskBody(content, contentType),
    sent: () => ({ bytes: content.length }),
    problem: () => undefined,
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

function streamed(
  contentType: string,
  { body, contentLength }: Pick<AdminRequest, 'contentLength' | 'body'>,
  { uploadBytes, patienceMs }: BodyLimits,
): RequestBody {
  if (!body || contentLength === undefined) {
    throw new AdminProblem('length_required', {
      detail: 'A file must come with its length, which the appliance insists on; nothing was sent.',
      remedy: 'Send the file with a Content-Length, not in chunks.',
    });
  }
  refuseLong(contentLength, uploadBytes);
  let sent: ReturnType<RequestBody['sent']> = { bytes: 0 };
  let problem: AdminProblem | undefined;
  return {
    contentType,
    content: () =>
      hashing(body, {
        patienceMs,
        onSent(progress) {
          sent = progress;
        },
        onStill() {
          problem = bodyTooSlow(patienceMs);
          return problem;
        },
      }),
    contentLength,
    fields: {},
    masked: { bytes: contentLength },
    sent: () => sent,
    problem: () => problem,
  };
}

interface Watch {
  readonly patienceMs: number;
  readonly onSent: (sent: ReturnType<RequestBody['sent']>) => void;
  /** A sender that stands still would keep the appliance waiting; the result ends the upload. */
  readonly onStill: () => Error;
}

function hashing(body: Readable, { patienceMs, onSent, onStill }: Watch): Readable {
  const hash = createHash('sha256');
  let bytes = 0;
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      timer.refresh();
      hash.update(chunk);
      bytes += chunk.length;
      onSent({ bytes });
      done(null, chunk);
    },
    flush(done) {
      onSent({ bytes, sha256: hash.digest('hex') });
      done();
    },
  });
  const timer = setTimeout(() => {
    // Full: then it is the appliance that takes its time.
    if (through.readableLength > 0) timer.refresh();
    else through.destroy(onStill());
  }, patienceMs);
  through.once('close', () => clearTimeout(timer));
  // Whoever reads it sees the failure; an answer may have come before, and then nobody does.
  through.on('error', () => undefined);
  body.once('error', (error) => through.destroy(error));
  return body.pipe(through);
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

function bodyNotAllowed(): AdminProblem {
  return new AdminProblem('body_not_allowed', {
    detail: 'The operation takes no body, and the request carries one; nothing was sent.',
    remedy: 'Send the request without a body, Content-Length and Transfer-Encoding.',
  });
}
