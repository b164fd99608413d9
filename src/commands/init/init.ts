import { rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createFiles, readFileText } from '../../config/files.ts';
import { loadSettings } from '../../app/load-settings.ts';
import { formatEndpoint } from '../../lib/address.ts';
import { isThere } from '../../lib/disk.ts';
import { HostResolver } from '../../lib/host-resolver.ts';
import { Secret } from '../../lib/secret.ts';
import { oneLine } from '../../lib/text.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import {
  colonHex,
  noCertificateText,
  ownFingerprintCommand,
  parseServer,
  readShownCertificate,
  shownText,
  type TlsTarget,
} from '../fingerprint.ts';
import { keyFolder, isLoadedBySystemd, assertWritable, replaceFile, writeNewFile } from './files.ts';
import { configurationWith, type ApplianceEntry, type PinnedTls } from './entry.ts';
import { tryKey } from './try-key.ts';

/** The folder where systemd hands keys to the service. */
const credentials = '/run/credentials/zlb-exporter.service';

/** Explains why nothing was written, and what to do; ends with exit code 1. */
class InitError extends Error {
  override readonly name = 'InitError';
}

/** Writes a configuration for one appliance, after its API key was accepted. */
export const init: Command = async (context) => {
  const target = parseServer('init', context.arguments);
  const file = context.flags['config.file'] ?? 'zlb.yml';
  assertAnswerable(context);
  await readBefore(file, context);
  try {
    const resolver = new HostResolver();
    const tls = await pinnedTls(target, resolver, context);
    const name = assertPlainName(
      context.flags.name ?? (await ask('Name of the appliance, such as lb-paris: ', context)),
    );
    const given = context.flags['api-key-file'];
    const staysInPlace = given !== undefined && (await isReadableFor(file, given));
    const keyFile = staysInPlace ? given : await newKeyFile(file, name);
    const apiKey = new Secret(given === undefined ? await ask(apiKeyQuestion, context, true) : await readApiKey(given));
    const rights = await tryKey({ name, url: urlOf(target), apiKey, tls, resolver }, context.stopped);
    if ('error' in rights) throw new InitError(`${target.host}:${target.port} ${rights.error}`);
    context.printOut(rights.value);

    const readFrom = await pathForExporter(file, keyFile);
    const written = 'ca_file' in tls ? { ca_file: await pathForExporter(file, tls.ca_file) } : tls;
    const entry = { name, url: urlOf(target), api_key_file: readFrom, tls: written };
    if (!staysInPlace) await writeNewFile(keyFile, `${apiKey.reveal()}\n`, 0o600);
    try {
      await writeConfiguration(file, entry, context);
    } catch (error) {
      if (!staysInPlace) await rm(keyFile, { force: true });
      throw error;
    }
    context.printOut(`Wrote ${file}${staysInPlace ? '' : `, and the key into ${keyFile}, for its owner alone`}. Next:`);
    (await nextCommands(file)).forEach((command) => context.printOut(`  ${command}`));
    return 0;
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    context.printErr(`zlb-exporter: ${error.message}. Nothing was written.`);
    return 1;
  }
};

/** Returns the commands that check and start the exporter; an installation has a user for them. */
async function nextCommands(file: string): Promise<readonly string[]> {
  if (await isLoadedBySystemd(dirname(file)))
    return ['sudo sh deploy/systemd/install.sh    # again: hands the key to the service, and starts it'];
  const check = `zlb-exporter check --config.file=${file}`;
  const start = `zlb-exporter --config.file=${file}`;
  if ((await keyFolder(dirname(file))) === dirname(file)) return [check, start];
  const isBooted = await isThere('/run/systemd/system');
  if (!isBooted) return [check, start].map((command) => `sudo -u zlb-exporter ${command}`);
  return [
    'sudo systemctl start zlb-exporter-check; journalctl -u zlb-exporter-check -n 50',
    'sudo systemctl enable --now zlb-exporter    # if it runs: sudo systemctl reload zlb-exporter',
  ];
}

function assertAnswerable({ flags, shell }: CommandContext): void {
  const { fingerprint, 'ca-file': caFile, 'trust-first': trustsFirst } = flags;
  if (fingerprint !== undefined && caFile !== undefined)
    throw new UsageError('give --fingerprint or --ca-file, not both: a pinned certificate needs no authority');
  if (shell.ask) return;
  const missing = (['name', 'api-key-file'] as const).filter((name) => flags[name] === undefined);
  if (missing.length === 0 && (fingerprint ?? caFile ?? trustsFirst) !== undefined) return;
  if (missing.length === 0)
    throw new UsageError(
      'without a terminal nobody compares the fingerprint: give --fingerprint=HEX or --ca-file=PATH, or --trust-first to send the key to whoever answers',
    );
  const typed = missing.map((name) => (name === 'name' ? '--name=lb-paris' : '--api-key-file=lb-paris.key'));
  throw new UsageError(`without a terminal init asks nothing: give ${typed.join(' and ')} as well`);
}

async function readBefore(file: string, { flags }: CommandContext): Promise<string | undefined> {
  await assertWritable(file);
  if (!(await isThere(file))) return undefined;
  if (!flags.append)
    throw new UsageError(`${file} exists; add the appliance to it with --append, or give another --config.file`);
  const text = await readFileText(file, 'configuration');
  if ('error' in text) throw new UsageError(`${file} ${text.error}`);
  return text.value;
}

/** Returns how the certificate is checked; throws an InitError if it is not that of `--fingerprint`. */
async function pinnedTls(target: TlsTarget, resolver: HostResolver, context: CommandContext): Promise<PinnedTls> {
  const { fingerprint, 'ca-file': caFile } = context.flags;
  if (caFile !== undefined) return { ca_file: resolve(caFile) };
  const shown = await showCertificate(target, resolver, context);
  const wanted = fingerprint?.replaceAll(':', '').toLowerCase();
  if (wanted !== undefined && wanted !== shown)
    throw new InitError(`its certificate is not that of --fingerprint: it shows ${shown}. The key was not sent`);
  return { fingerprint_sha256: shown };
}

/** Shows the fingerprint in both spellings, before anything secret is typed. */
async function showCertificate(
  { host, port }: TlsTarget,
  resolver: HostResolver,
  { stopped, now, printOut, flags }: CommandContext,
): Promise<string> {
  const shown = await readShownCertificate({ host, port, resolver, signal: stopped }).catch((error: unknown) => {
    throw new InitError(noCertificateText({ host, port }, error));
  });
  printOut(`${shownText({ host, port }, shown, now())}. Its SHA-256:`);
  printOut(`  ${shown.fingerprintSha256}`);
  printOut(`  ${colonHex(shown.fingerprintSha256)}`);
  if (flags.fingerprint !== undefined) return shown.fingerprintSha256;
  printOut('It will be pinned. Compare it with what this prints on the appliance itself:');
  printOut(`  ${ownFingerprintCommand(port)}`);
  return shown.fingerprintSha256;
}

async function ask(question: string, { shell, stopped }: CommandContext, hidden = false): Promise<string> {
  const answer = (await shell.ask?.(question, hidden))?.trim() ?? '';
  if (answer === '') throw new InitError(stopped.aborted ? 'stopped' : 'there was no answer');
  return answer;
}

const apiKeyQuestion = 'API key (not shown; Ctrl-C if the fingerprints differ): ';

async function readApiKey(file: string): Promise<string> {
  const text = await readFileText(file, 'key');
  if ('error' in text) throw new InitError(`the file of --api-key-file ${text.error}`);
  return text.value.trim();
}

function urlOf({ host, port }: TlsTarget): string {
  return `https://${formatEndpoint(host, port)}`;
}

/**
 * Returns a name that needs no quotes in a command, a path and a URL. The configuration takes
 * others too.
 */
function assertPlainName(name: string): string {
  if (/^[A-Za-z\d][\w.-]*$/.test(name)) return name;
  throw new InitError(
    `the name '${oneLine(name, 64)}' would need quotes in each command and address; use letters, digits, dots, dashes and underscores, such as lb-paris`,
  );
}

/** Returns the path of a new file for an API key that was typed. */
async function newKeyFile(file: string, name: string): Promise<string> {
  const path = join(await keyFolder(dirname(file)), `${name}.key`);
  if (!(await isThere(path))) return path;
  throw new InitError(
    `${path} exists; if it holds the key, give --api-key-file=${path}, otherwise choose another name`,
  );
}

/**
 * Returns true if the exporter can read the file of an API key where it is. The service of an
 * installation reads only its own folder, so a key from elsewhere is copied.
 */
async function isReadableFor(file: string, keyFile: string): Promise<boolean> {
  const folder = dirname(resolve(file));
  const isInstalled = (await keyFolder(folder)) !== folder;
  return !isInstalled || resolve(keyFile).startsWith(`${folder}/`);
}

/** Returns the path of a key's file as the configuration names it. */
async function pathForExporter(file: string, keyFile: string): Promise<string> {
  const folder = dirname(resolve(file));
  if (dirname(resolve(keyFile)) === join(folder, 'keys') && (await isLoadedBySystemd(folder)))
    return join(credentials, basename(keyFile));
  const path = relative(dirname(resolve(file)), resolve(keyFile));
  return path.startsWith('..') ? resolve(keyFile) : path;
}

/** Writes the configuration only if the exporter would take it. */
async function writeConfiguration(file: string, entry: ApplianceEntry, context: CommandContext): Promise<void> {
  // Read again: somebody may have changed it while questions were open.
  const before = await readBefore(file, context);
  const text = configurationWith(entry, before);
  if (text === undefined)
    throw new InitError(`${basename(file)} has its appliances in brackets; write each on a line that begins with "- "`);
  // Credentials of systemd exist only while the service runs.
  const readable = text.replaceAll(credentials, join(dirname(resolve(file)), 'keys'));
  await loadSettings({
    file,
    env: context.env,
    files: createFiles([file], { kept: new Map([[file, readable]]) }),
  });
  await (before === undefined ? writeNewFile(file, text, 0o644) : replaceFile(file, text));
}
