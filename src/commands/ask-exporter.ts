import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { errorCode, errorMessage, parseJson } from '../lib/check.ts';
import { readWhole } from '../lib/growing-buffer.ts';
import { lookupBy, maxResolveMs, HostResolver, ResolveError, resolveRemedy } from '../lib/host-resolver.ts';
import { httpRequestOf } from '../lib/http.ts';
import { Secret } from '../lib/secret.ts';
import { oneLine } from '../lib/text.ts';
import { isTlsError, speaksNoTls } from '../lib/tls-errors.ts';
import { type Shape, ShapeError } from '../lib/shape.ts';
import { type CommandContext, UsageError } from './command.ts';
import { UnknownStateError } from './plugin/check-result.ts';
import { ExporterReply, type SeenAppliance } from './plugin/exporter-reply.ts';
import { parseUrl, readTlsFiles, assertSecretProtected, readTextFile, type TlsFiles } from './server-address.ts';

/** The address of a running exporter and what its web configuration asks for. */
interface Exporter extends TlsFiles {
  readonly url: URL;
  /** `user:password` */
  readonly user: Secret | undefined;
}

const defaultUrl = 'http://127.0.0.1:9444';
/** Monitoring systems give a plug-in a minute, some of them ten seconds. */
const defaultTimeoutSeconds = 8;
const maxBytes = 64 * 1_048_576;
/** The clocks of two machines may differ by this much. */
const maxDifferenceMs = 300_000;

/** Asks a running exporter about an appliance; throws UnknownStateError if it does not say. */
export async function askExporter(context: CommandContext, appliance: string): Promise<SeenAppliance> {
  const startSteadyMs = context.steadyNow();
  const { url, text, date } = await responseOf(context, '/api/status', { appliance });
  const asked = `asked ${url.origin} in ${Math.round(context.steadyNow() - startSteadyMs)} ms, ${text.length} bytes`;
  // The ages of readings are by the clock of the exporter.
  return { ...read(text, appliance), nowMs: clockOf(date, url), asked: [asked] };
}

/** Asks a running exporter for a path; throws UnknownStateError if it does not say. */
export async function responseOf(context: CommandContext, path: string, query: Readonly<Record<string, string>>) {
  const exporter = await readExporter(context);
  const { url } = exporter;
  const timeoutMs = 1_000 * Number(context.flags.timeout ?? defaultTimeoutSeconds);
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.stopped, limit]);
  let response: IncomingMessage | undefined;
  try {
    response = await get(exporter, path, query, signal);
    const text = (await readWhole(response, maxBytes, answerTooLong)).toString();
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200) throw new UnknownStateError(refusalText(statusCode, exporter, query.appliance, text));
    return { url, text, date: headers.date ?? '' };
  } catch (error) {
    if (error instanceof UnknownStateError) throw error;
    const message = limit.aborted ? `it took longer than ${timeoutMs / 1_000} s` : errorMessage(error);
    const because = response || signal.aborted ? message : withRemedy(message, error, url);
    throw new UnknownStateError(`the exporter at ${url.origin} did not respond: ${because}`);
  }
}

/** Returns why a server sent no response, and what to do about it. */
function withRemedy(message: string, error: unknown, { protocol }: URL): string {
  const place = '--exporter.url (or ZLB_EXPORTER_URL)';
  if (speaksNoTls(error)) return `that port does not speak TLS; write http:// in ${place}`;
  if (error instanceof ResolveError) return `${message}; ${resolveRemedy}`;
  const code = errorCode(error);
  const isClosed = code === 'ECONNRESET' || code === 'EPIPE';
  // A listener with TLS closes the connection on plain text.
  if (isClosed && protocol === 'http:') return `${message}; if it speaks TLS, write https:// in ${place}`;
  if (isClosed || code === 'EPROTO' || code.includes('ALERT'))
    return `${message}; if it asks for a certificate, give --exporter.cert-file`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${message}; write a name of its certificate in ${place}`;
  if (code === 'CERT_HAS_EXPIRED') return `${message}; renew it`;
  if (isTlsError(error)) return `${message}; give its authority, or itself, as --exporter.ca-file`;
  return `${message}; check that it runs, and --exporter.url`;
}

/** Sends one GET over a connection of its own, and resolves to the response. */
async function get(
  { url, user, ca, cert, key }: Exporter,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const resolver = new HostResolver();
  const sent = httpRequestOf(url.protocol)(url, {
    path: `${url.pathname.replace(/(?<!\/)\/+$/, '')}${path}?${new URLSearchParams(query).toString()}`,
    headers: user ? { authorization: `Basic ${Buffer.from(user.reveal()).toString('base64')}` } : {},
    agent: false,
    lookup: lookupBy((host) => resolver.resolve(host, maxResolveMs)),
    signal,
    // Set here, so that no environment variable can switch it off.
    rejectUnauthorized: true,
    ...(ca && { ca }),
    ...(cert && key && { cert, key: key.reveal() }),
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

function answerTooLong(): UnknownStateError {
  return new UnknownStateError(`the answer is longer than ${maxBytes} bytes, or has too many parts`);
}

/** Returns the exporter's time; throws UnknownStateError for an old response that a proxy repeats. */
function clockOf(date: string, { origin }: URL): number {
  const saidMs = Date.parse(date);
  if (Number.isNaN(saidMs)) return Date.now();
  const differenceMs = Math.abs(Date.now() - saidMs);
  if (differenceMs <= maxDifferenceMs) return saidMs;
  throw new UnknownStateError(
    `the answer of ${origin} is of ${new Date(saidMs).toISOString()}: a proxy repeats an old one, or a clock is wrong`,
  );
}

async function readExporter({ flags, env }: CommandContext): Promise<Exporter> {
  const url = parseUrl(
    flags['exporter.url'] ?? (env.ZLB_EXPORTER_URL || defaultUrl),
    '--exporter.url (or ZLB_EXPORTER_URL) must be a URL such as https://exporter.example.com:9444',
  );
  const file = flags['exporter.user-file'];
  const user = file === undefined ? undefined : await readUser(url, file);
  return { url, user, ...(await readTlsFiles(flags, url, 'exporter.')) };
}

async function readUser(url: URL, file: string): Promise<Secret> {
  assertSecretProtected(url, 'a password');
  const text = (await readTextFile('--exporter.user-file', file, 'key')).replace(/\r?\n$/, '');
  if (!/^[^:\r\n]+:[^\r\n]+$/.test(text))
    throw new UsageError(
      '--exporter.user-file must contain one line, user:password, as the web configuration has them',
    );
  return new Secret(text);
}

function refusalText(
  status: number,
  { url: { origin, pathname }, user }: Exporter,
  appliance: string | undefined,
  said: string,
): string {
  if (status === 401 && !user)
    return `the exporter at ${origin} asks for a password; give --exporter.user-file, a file with user:password`;
  if (status === 401) return `the exporter at ${origin} refuses the user or the password of --exporter.user-file`;
  // The words of `/api/status`; what answers for another path has others.
  if (status === 404 && appliance !== undefined && /^(?:No|That) appliance /.test(said))
    return `the exporter at ${origin} does not watch an appliance ${appliance}`;
  if (status === 404)
    return `no exporter answers under ${origin}${pathname} (404): check the host, the port and the path of --exporter.url`;
  return `the exporter at ${origin} answered ${status}: ${oneLine(said, 200).trim()}`;
}

/** Reads a response; throws UnknownStateError if it is not of the shape. */
export function readReply<T>(shape: Shape<T>, text: string): T {
  const reply = parseJson(text);
  if (reply === undefined) throw new UnknownStateError('what answers is not an exporter: it does not speak JSON');
  try {
    return shape(reply, '');
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new UnknownStateError(`what answers is not a zlb-exporter of this version: ${error.message}`);
  }
}

function read(text: string, name: string): Pick<SeenAppliance, 'appliance' | 'isDemonstration'> {
  const { appliances, demonstration } = readReply(ExporterReply, text);
  const appliance = appliances.find((each) => each.name === name);
  if (!appliance) throw new UnknownStateError(`the exporter does not watch an appliance ${name}`);
  return { appliance, isDemonstration: demonstration };
}
