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

interface ExporterAnswer {
  readonly url: URL;
  readonly text: string;
  /** The header of that name. */
  readonly date: string;
}

/** Asks a running exporter; throws NothingKnown if it does not say. */
export async function askRunning(
  context: CommandContext,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<ExporterAnswer> {
  const exporter = await readExporter(context);
  const { url, user } = exporter;
  const agent = tlsAgent(exporter, {});
  try {
    const { statusCode, headers, body } = await agent.request({
      origin: url.origin,
      path: `${url.pathname.replace(/\/+$/, '')}${path}?${new URLSearchParams(query).toString()}`,
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

function refusalText(status: number, { origin }: URL, appliance: string | undefined, said: string): string {
  if (status === 401) return `the exporter at ${origin} refuses the user or the password of --exporter.user-file`;
  if (status === 404 && appliance !== undefined)
    return `the exporter at ${origin} does not watch an appliance ${appliance}`;
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
