import type { TSchema } from 'typebox';
import { headerOf } from '../appliance/answer.ts';
import { createDecoder } from '../appliance/decode.ts';
import { messageOf } from '../appliance/errors.ts';
import { parseJson } from '../lib/check.ts';
import { readWhole } from '../lib/growing-buffer.ts';
import { Secret } from '../lib/secret.ts';
import { oneLine } from '../lib/text.ts';
import { parseUrl, readTlsFiles, refuseOpenSecret, textOf, tlsAgent, type TlsFiles } from './admin/connection.ts';
import type { CommandContext } from './command.ts';
import { NothingKnown } from './plugin/check-result.ts';
import { ExporterReply, type SeenAppliance } from './plugin/exporter-reply.ts';
import { UsageError } from './usage-error.ts';

/** The address of a running exporter and what its web configuration asks for. */
interface Exporter extends TlsFiles {
  readonly url: URL;
  /** `user:password` */
  readonly user: Secret | undefined;
}

const defaultUrl = 'http://127.0.0.1:9444';
/** Monitoring systems give a plug-in a minute, some of them ten seconds. */
const timeoutMs = 8_000;
const maxBytes = 64 * 1_048_576;
/** Clocks of two machines may differ as much. */
const maxDifferenceMs = 300_000;

/** Asks a running exporter about an appliance; throws NothingKnown if it does not say. */
export async function askExporter(context: CommandContext, appliance: string): Promise<SeenAppliance> {
  const { url, text, date } = await answerOf(context, '/api/status', { appliance });
  // The ages of readings are by the clock of the exporter.
  return { ...read(text, appliance), nowMs: clockOf(date, url) };
}

/** Asks a running exporter for a path; throws NothingKnown if it does not say. */
export async function answerOf(context: CommandContext, path: string, query: Readonly<Record<string, string>>) {
  const exporter = await readExporter(context);
  const { url, user } = exporter;
  const agent = tlsAgent(exporter);
  try {
    const { statusCode, headers, body } = await agent.request({
      origin: url.origin,
      path: `${url.pathname.replace(/(?<!\/)\/+$/, '')}${path}?${new URLSearchParams(query).toString()}`,
      method: 'GET',
      headers: user ? { authorization: `Basic ${Buffer.from(user.reveal()).toString('base64')}` } : {},
      signal: AbortSignal.any([context.stopped, AbortSignal.timeout(timeoutMs)]),
    });
    const text = (await readWhole(body, maxBytes, answerTooLong)).toString();
    if (statusCode !== 200) throw new NothingKnown(refusalText(statusCode, url, query.appliance, text));
    return { url, text, date: headerOf(headers, 'date') };
  } catch (error) {
    if (error instanceof NothingKnown) throw error;
    throw new NothingKnown(`the exporter at ${url.origin} gave no answer: ${messageOf(error)}`);
  } finally {
    await agent.destroy();
  }
}

function answerTooLong(): NothingKnown {
  return new NothingKnown(`the answer is longer than ${maxBytes} bytes, or has too many parts`);
}

/** Returns the exporter's time; throws NothingKnown for that of an answer which a proxy repeats. */
function clockOf(date: string, { origin }: URL): number {
  const saidMs = Date.parse(date);
  if (Number.isNaN(saidMs)) return Date.now();
  const differenceMs = Math.abs(Date.now() - saidMs);
  if (differenceMs <= maxDifferenceMs) return saidMs;
  throw new NothingKnown(
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
  refuseOpenSecret(url, 'a password');
  const text = (await textOf('--exporter.user-file', file, 'key')).replace(/\r?\n$/, '');
  if (!/^[^:\r\n]+:[^\r\n]+$/.test(text))
    throw new UsageError('--exporter.user-file must hold one line, user:password, as the web configuration has them');
  return new Secret(text);
}

function refusalText(status: number, { origin, pathname }: URL, appliance: string | undefined, said: string): string {
  if (status === 401) return `the exporter at ${origin} refuses the user or the password of --exporter.user-file`;
  // The words of `/api/status`; what answers for another path has others.
  if (status === 404 && appliance !== undefined && /^(?:No|That) appliance /.test(said))
    return `the exporter at ${origin} does not watch an appliance ${appliance}`;
  if (status === 404)
    return `no exporter answers under ${origin}${pathname} (404): check the host, the port and the path of --exporter.url`;
  return `the exporter at ${origin} answered ${status}: ${oneLine(said, 200).trim()}`;
}

/** Reads an answer; throws NothingKnown if it does not fit the schema. */
export function readReply(schema: TSchema, text: string): unknown {
  const reply = parseJson(text);
  if (reply === undefined) throw new NothingKnown('what answers is no exporter: it does not speak JSON');
  const decoded = createDecoder()(schema, reply);
  if (!decoded.ok) throw new NothingKnown(`what answers is no exporter of this release: ${decoded.because}`);
  return reply;
}

function read(text: string, name: string): Omit<SeenAppliance, 'nowMs'> {
  const { appliances, demonstration } = readReply(ExporterReply, text) as ExporterReply;
  const appliance = appliances.find((each) => each.name === name);
  if (!appliance) throw new NothingKnown(`the exporter does not watch an appliance ${name}`);
  return { appliance, isDemonstration: demonstration };
}
