import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import { Agent, type Dispatcher } from 'undici';
import { headerOf, mediaTypeOf } from '../../appliance/response.ts';
import { decode } from '../../appliance/decode.ts';
import { type FailureReason, isClosedSocket, messageOf, reasonOfTransportError } from '../../appliance/errors.ts';
import { misspeltVariables } from '../../config/environment.ts';
import { isRecord, parseJson } from '../../lib/check.ts';
import { readWhole } from '../../lib/growing-buffer.ts';
import { HostResolver, maxResolveMs, ResolveError, resolveRemedy } from '../../lib/host-resolver.ts';
import { Secret } from '../../lib/secret.ts';
import { speaksNoTls } from '../../lib/tls-errors.ts';
import { beforeFirstByte, connectByName } from '../../lib/undici.ts';
import { type CommandContext, UsageError } from '../command.ts';
import { parseUrl, readTlsFiles, assertSecretProtected, readTextFile, type TlsFiles } from '../server-address.ts';
import type { OperationCall } from '../../admin/policy/operation.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import type { Content } from '../../admin/recipes/calls.ts';

export interface GatewayRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Encoded, relative to the gateway's URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: Content | undefined;
}

/** The headers that a caller may add to a call. */
export interface CallOptions {
  readonly confirm?: string | undefined;
  readonly reason?: string | undefined;
  readonly force?: boolean;
  /** Sends at once, in an emergency, what needs approval. */
  readonly breakGlass?: boolean;
  readonly dryRun?: boolean;
}

export interface GatewayResponse {
  readonly status: number;
  /** Lower case, without parameters; empty when the response names none. */
  readonly mediaType: string;
  /** True for a response that is a file to save. */
  readonly attachment: boolean;
  readonly requestId: string;
  /** The id of the change that was created because the call needs approval. */
  readonly changeId: string | undefined;
  readonly body: Readable;
  /**
   * Resolves to the whole body; rejects with an {@link AdminError}, also for a body that is too
   * long for memory.
   */
  readonly readBody: () => Promise<Buffer>;
}

/** The address of the gateway and the credentials of the caller. */
interface Connection extends TlsFiles {
  /** The URL, without a slash at its end. */
  readonly url: string;
  readonly token: Secret;
}

const defaultUrl = 'http://127.0.0.1:9445';

/**
 * Reads flags, environment variables and the files that they name. A flag wins over a variable; an
 * empty variable counts as unset.
 */
export async function readConnection({ flags, env }: Pick<CommandContext, 'flags' | 'env'>): Promise<Connection> {
  const misspelt = misspeltVariables(env).find(({ meant }) => meant.startsWith('ZLB_ADMIN_'));
  if (misspelt)
    throw new UsageError(
      `the variable ${misspelt.variable} has no effect; did you mean ${misspelt.meant}? Set that one, or unset this one`,
    );
  const url = parseUrl(
    flags['admin.url'] ?? (env.ZLB_ADMIN_URL || defaultUrl),
    '--admin.url (or ZLB_ADMIN_URL) must be a URL such as https://lb-admin.example.com:9445',
  );
  assertSecretProtected(url, 'a token');
  const certificates = await readTlsFiles(flags, url, 'admin.');
  return { url: url.href.replace(/(?<!\/)\/+$/, ''), token: await readToken({ flags, env }), ...certificates };
}

async function readToken({ flags, env }: Pick<CommandContext, 'flags' | 'env'>): Promise<Secret> {
  const file = flags['admin.token-file'] ?? (env.ZLB_ADMIN_TOKEN_FILE || undefined);
  if (file === undefined && !env.ZLB_ADMIN_TOKEN)
    throw new UsageError(
      'no token: put it into a file of yours and give --admin.token-file=PATH, or set ZLB_ADMIN_TOKEN_FILE (or ZLB_ADMIN_TOKEN)',
    );
  const [source, text] =
    file === undefined
      ? ['ZLB_ADMIN_TOKEN', env.ZLB_ADMIN_TOKEN ?? '']
      : ['the token file', await readTextFile('the token file', file, 'key')];
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(
      `${source} contains no token; it must be one line of letters, digits and signs, as zlb-exporter token prints`,
    );
  return new Secret(token);
}

/** Longer than the gateway lets a caller wait: `admin.timeout` is at most an hour. */
const maxWaitMs = 7_200_000;
/** More requests wait here: a delivery asks for all appliances at the same time. */
const maxConnections = 8;

export type GatewayClient = ReturnType<typeof createGatewayClient>;

/**
 * Creates a client of the admin gateway. Every failure of `send` is an {@link AdminError}; a refusal
 * by the appliance is a response.
 */
export function createGatewayClient(connection: Connection, signal: AbortSignal) {
  const { url, token, ca, cert, key } = connection;
  const agent = new Agent({
    connections: maxConnections,
    headersTimeout: maxWaitMs,
    bodyTimeout: maxWaitMs,
    connect: connectByName(new HostResolver(), maxResolveMs, {
      // Set here, so that no environment variable can switch it off.
      rejectUnauthorized: true,
      ...(ca && { ca }),
      ...(cert && key && { cert, key: key.reveal() }),
    }),
  });

  async function send(request: GatewayRequest): Promise<GatewayResponse> {
    const { origin, pathname } = new URL(url);
    const response = await exchange(request, {
      origin,
      path: `${pathname.replace(/\/$/, '')}${request.path}`,
      method: request.method,
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        accept: '*/*',
        ...(request.content ? { 'content-type': request.content.type } : {}),
        ...request.headers,
      },
      ...(request.content ? { body: request.content.bytes } : {}),
      signal,
    });
    const { statusCode: status, headers, body } = response;
    // A reader of the body gets the error too; without a listener it would end the process.
    body.on('error', () => undefined);
    const requestId = headerOf(headers, 'x-request-id');
    const mediaType = mediaTypeOf(headerOf(headers, 'content-type'));
    if (requestId === '') {
      await body.dump();
      throw new AdminError(`${url} is not an admin gateway`, {
        detail: `It answered ${status}, but not as a gateway does.`,
        remedy: 'Check --admin.url: the gateway has a port of its own, admin.listen_address in the configuration.',
      });
    }
    if (mediaType === 'application/problem+json') throw problemError(status, requestId, await readWholeBody(body));
    const attachment = headerOf(headers, 'content-disposition').startsWith('attachment');
    // The gateway passes no Location of an appliance on.
    const changeId = status === 202 ? /^\/changes\/([\w-]+)$/.exec(headerOf(headers, 'location'))?.[1] : undefined;
    return { status, mediaType, attachment, requestId, changeId, body, readBody: () => readWholeBody(body) };
  }

  async function exchange(
    request: GatewayRequest,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData> {
    let wasSent = false;
    try {
      return await beforeFirstByte(agent, () => (wasSent = true)).request(options);
    } catch (error) {
      const reason = reasonOfTransportError(error, signal.aborted ? 'caller' : 'nobody');
      throw new AdminError(signal.aborted ? 'Interrupted' : `${url} did not respond`, {
        detail: speaksNoTls(error)
          ? 'What listens there does not speak TLS; most likely it speaks plain HTTP.'
          : token.scrub(messageOf(error)),
        remedy: sentences(
          wasSent && mayChange(request) ? 'Whether it was carried out is not known: look before you repeat it.' : '',
          remedyFor(error, reason, url),
        ),
      });
    }
  }

  return { send, close: () => agent.destroy() };
}

function mayChange({ method, path, headers }: GatewayRequest): boolean {
  return method !== 'GET' && headers?.['x-dry-run'] === undefined && !path.endsWith('?dry_run=true');
}

/** Returns the error for a problem document of the gateway (RFC 9457). */
function problemError(status: number, requestId: string, body: Buffer): AdminError {
  const problem = parseJson(body);
  const field = (name: string): string => {
    const value = isRecord(problem) ? problem[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const code = field('code');
  return new AdminError(field('title') || `The gateway answered ${status}`, {
    detail: field('detail'),
    remedy: sentences(field('remedy'), hints[code] ?? ''),
    code,
    requestId,
    status,
    body,
  });
}

function sentences(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** The flags for the headers that the gateway's remedies name. */
const hints: Readonly<Record<string, string>> = {
  unauthenticated: 'Here: --admin.token-file=PATH, or ZLB_ADMIN_TOKEN_FILE.',
  token_expired: 'Here: --admin.token-file=PATH, or ZLB_ADMIN_TOKEN_FILE.',
  confirmation_required: 'Here: --confirm=NAME.',
  confirmation_mismatch: 'Here: --confirm=NAME.',
  guarded: 'Here: --force --reason=TEXT.',
  reason_required: 'Here: --reason=TEXT.',
  frozen: 'Here: zlb-exporter admin unfreeze.',
  cannot_wait: 'Here: --break-glass --reason=TEXT.',
  unknown_change: 'Here: zlb-exporter admin changes --state=all.',
  too_many_changes: 'Here: zlb-exporter admin changes cancel ID.',
  change_over: 'Here: zlb-exporter admin changes show ID.',
  digest_mismatch: 'Here: zlb-exporter admin changes show ID.',
  plan_changed: 'Here: zlb-exporter admin changes show ID.',
  unknown_appliance: 'Here: zlb-exporter admin appliances.',
  appliance_denied: 'Here: zlb-exporter admin appliances.',
};

function remedyFor(error: unknown, reason: FailureReason, url: string): string {
  if (error instanceof ResolveError) return `In --admin.url (or ZLB_ADMIN_URL), ${resolveRemedy}.`;
  if (speaksNoTls(error)) return 'Write http:// in --admin.url (or ZLB_ADMIN_URL).';
  // A TLS listener closes the connection on plain text.
  if (isClosedSocket(error) && url.startsWith('http:'))
    return 'If the gateway speaks TLS, write https:// in --admin.url (or ZLB_ADMIN_URL).';
  return remedies[reason] ?? '';
}

const remedies: Partial<Record<FailureReason, string>> = {
  connect: 'Check --admin.url (or ZLB_ADMIN_URL), and that the exporter runs with an admin block in its configuration.',
  timeout: 'Check --admin.url and the network between.',
  tls: 'Check the name in --admin.url; --admin.ca-file=PATH names the authority of its certificate, --admin.cert-file and --admin.key-file are yours.',
};

const mebibyte = 1_048_576;
/** Four times the exporter's default limit for a reply of an appliance; a file may be longer. */
const maxMebibytes = 32;

/**
 * Reads a whole body; rejects with an {@link AdminError} when it is cut short, or too long for
 * memory.
 */
async function readWholeBody(body: Readable): Promise<Buffer> {
  try {
    return await readWhole(body, maxMebibytes * mebibyte, tooLong);
  } catch (error) {
    throw error instanceof AdminError ? error : truncated(error);
  }
}

export function truncated(error: unknown): AdminError {
  return new AdminError('The response was truncated', {
    detail: messageOf(error),
    remedy: 'What was asked for is done or under way: look before you repeat it.',
  });
}

export function tooLong(): AdminError {
  return new AdminError('The answer is too long', {
    detail: `Reading ended after ${maxMebibytes} MiB.`,
    remedy:
      'What was asked for is done or under way. --output=FILE, or --json into a pipe, takes an answer of any length.',
  });
}

/** Checks a response of the gateway; throws an {@link AdminError} when it does not fit. */
export function parseReply<Schema extends TSchema>(schema: Schema, response: unknown, title: string): Static<Schema> {
  const fault = decode(schema, response);
  if (!fault) return response as Static<Schema>;
  throw new AdminError(title, {
    detail: fault.because,
    remedy: 'Use the same version of zlb-exporter on both sides.',
  });
}

export function appliancePath(appliance: string): string {
  return `/appliances/${encodeURIComponent(appliance)}`;
}

export function requestFor(
  appliance: string,
  { operation, path }: OperationCall,
  content: Content | undefined,
  { confirm, reason, force = false, breakGlass = false, dryRun = false }: CallOptions,
): GatewayRequest {
  return {
    method: operation.method,
    path: `${appliancePath(appliance)}${path}`,
    content,
    headers: {
      // Header values are ASCII; names and reasons may hold other letters.
      ...(confirm === undefined ? {} : { 'x-confirm': encodeURIComponent(confirm) }),
      ...reasonHeader(reason),
      ...(force ? { 'x-force': 'true' } : {}),
      ...(breakGlass ? { 'x-break-glass': 'true' } : {}),
      ...(dryRun ? { 'x-dry-run': 'true' } : {}),
    },
  };
}

export function reasonHeader(reason: string | undefined): Readonly<Record<string, string>> {
  return reason === undefined ? {} : { 'x-reason': encodeURIComponent(reason) };
}
