import { openStates } from '../admin/changes/change.ts';
import { exportedLines, type Verification, verifyJournal } from '../admin/journal/verify.ts';
import { isRecord, toError, errorCode } from '../lib/check.ts';
import { loadSettings } from '../app/load-settings.ts';
import { FileKindError } from '../lib/disk.ts';
import { plural, oneLine } from '../lib/text.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { configurationFile, installedFile } from './configuration-file.ts';
import { pairLines } from './table.ts';

const usage = 'zlb-exporter audit verify [FILE] [--last=NUMBER:HASH], or audit export [FILE]';
/** Maximum number of lines of a list; the rest is counted. */
const maxShown = 12;
const keepFiles =
  'Keep the file as it is, as evidence. To begin a new chain, move all files whose names begin with that of the journal, and restart the exporter.';

/**
 * `audit verify` says whether a journal is as it was written; exit code 1 if it is not, or has no
 * records. `audit export` prints its records as lines of JSON. Both read the journal of the
 * configuration, unless a file is named.
 */
export const audit: Command = async (context) => {
  const [verb = '', named, ...more] = context.arguments;
  const work = auditCommands.get(verb);
  if (!work) throw new UsageError(`audit has two subcommands: ${usage}`);
  if (named === '' || more.length > 0) throw new UsageError(`name one file: ${usage}`);
  const file = named ?? (await configuredJournal(context));
  try {
    return await work(file, context);
  } catch (error) {
    const remedy = remedyOf(error);
    if (remedy === undefined) throw error;
    context.printErr(`The journal cannot be read: ${toError(error).message}. ${remedy}`);
    return 1;
  }
};

/** SQLITE_CANTOPEN of sqlite3.h; the low byte is the kind of error. */
const cannotOpen = 14;

/** Returns the remedy for a journal that cannot be read; undefined for any other error. */
function remedyOf(error: unknown): string | undefined {
  // Its write-ahead log is there, and SQLite needs a file beside it to read that.
  if (isRecord(error) && Number(error.errcode) % 256 === cannotOpen)
    return 'Copy all files whose names begin with its name to a folder that may be written, and name the copy.';
  if (error instanceof FileKindError || (isRecord(error) && 'errcode' in error) || errorCode(error) === 'ENOENT')
    return 'Name the admin.journal_file of the configuration.';
  return errorCode(error) === '' ? undefined : 'Run this as a user that may read it.';
}

/** The folder to which the service of a package writes. */
const installedState = '/var/lib/zlb-exporter';

/** Resolves to the journal of the configuration; only the service gets its folder from systemd. */
async function configuredJournal(context: CommandContext): Promise<string> {
  const file = configurationFile(context);
  if (file === undefined) throw new UsageError(`there is no configuration that names the journal: ${usage}`);
  const env = file === installedFile ? { STATE_DIRECTORY: installedState, ...context.env } : context.env;
  const { admin } = await loadSettings({ file, env });
  if (!admin) throw new UsageError(`${file} has no admin block, and so no journal: ${usage}`);
  return admin.journalFile;
}

type AuditCommand = (file: string, context: CommandContext) => Promise<number>;

export const auditCommands: ReadonlyMap<string, AuditCommand> = new Map<string, AuditCommand>([
  ['verify', verify],
  ['export', exportRecords],
]);

async function exportRecords(file: string, { shell }: CommandContext): Promise<number> {
  for await (const lines of exportedLines(file)) await shell.write(Buffer.from(`${lines.join('\n')}\n`));
  return 0;
}

async function verify(file: string, { printOut, flags }: CommandContext): Promise<number> {
  const [seq, hash] = flags.last?.split(':') ?? [];
  const verification = await verifyJournal(file, {
    known: hash === undefined ? undefined : { seq: Number(seq), hash },
    openStates,
  });
  for (const line of verificationLines(file, verification)) printOut(line);
  return verification.records > 0 && verification.faults.length === 0 ? 0 : 1;
}

function* verificationLines(file: string, { records, first, last, faults, unfinished }: Verification) {
  if (records === 0 && faults.length === 0) {
    yield `${file} has no records. Check that this is the admin.journal_file of the configuration.`;
    return;
  }
  yield faults.length === 0
    ? `${file} is intact: ${plural(records, 'record')}.`
    : `${file} is NOT intact: ${plural(faults.length, 'fault')}, ${plural(records, 'record')}.`;
  if (first && last) {
    yield '';
    yield* pairLines([
      ['first record', `number ${first.seq}, ${printable(first.time)}`],
      ['last record', `number ${last.seq}, ${printable(last.time)}`],
      ['its hash', last.hash],
    ]).map((line) => `  ${line}`);
  }
  if (faults.length > 0) {
    yield '';
    yield* firstLines(faults.map((fault) => `${file}: ${fault}.`));
    yield keepFiles;
  }
  if (unfinished.length > 0) {
    yield '';
    yield `The outcome of ${plural(unfinished.length, 'request')} is unknown: the appliance may have carried it out. The ids:`;
    yield* firstLines(unfinished.map(printable));
  }
}

function* firstLines(texts: readonly string[]) {
  for (const text of texts.slice(0, maxShown)) yield `  ${text}`;
  if (texts.length > maxShown) yield `  and ${texts.length - maxShown} more`;
}

/** Returns a text of a possibly forged record without control characters. */
function printable(text: string): string {
  return oneLine(text, 64);
}
