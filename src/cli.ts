import { type CommandName, commands, type Description, exporter, isCommand } from './commands/commands.ts';
import { type Command, type CommandContext, OutputError, UsageError } from './commands/command.ts';
import { parseFlags, assertFlagsTaken } from './commands/parse-flags.ts';
import { createCommandNamer } from './commands/shell.ts';
import { closestWord } from './lib/text.ts';
import { ConfigError } from './config/problems.ts';
import { ListenError } from './lib/listen.ts';
import { FileKindError } from './lib/disk.ts';

/** The files of commands are loaded on demand: a health check every few seconds must not load a server. */
const loaders: Readonly<Record<CommandName | '', () => Promise<Command>>> = {
  admin: async () => (await import('./commands/admin/admin.ts')).admin,
  audit: async () => (await import('./commands/audit.ts')).audit,
  check: async () => (await import('./commands/check/check.ts')).check,
  completion: async () => (await import('./commands/completion/completion.ts')).completion,
  demo: async () => (await import('./commands/run.ts')).demo,
  deliver: async () => (await import('./commands/deliver/deliver.ts')).deliver,
  fingerprint: async () => (await import('./commands/fingerprint.ts')).fingerprint,
  history: async () => (await import('./commands/history.ts')).history,
  healthcheck: async () => (await import('./commands/healthcheck.ts')).healthcheck,
  init: async () => (await import('./commands/init/init.ts')).init,
  plugin: async () => (await import('./commands/plugin/plugin.ts')).plugin,
  simulate: async () => (await import('./commands/demonstration/simulate.ts')).simulate,
  token: async () => (await import('./commands/token.ts')).token,
  '': async () => (await import('./commands/run.ts')).run,
};

/** What commands get from the process; tests give their own. */
export interface ProcessContext extends Omit<CommandContext, 'flags' | 'arguments' | 'withCommandName'> {
  /** The command that users type, such as `zlb-exporter`. */
  readonly name: string;
}

/**
 * Runs the program with its command-line arguments; resolves to the exit code, and rejects only for
 * a bug.
 */
export async function runCommandLine(args: readonly string[], context: ProcessContext): Promise<number> {
  const withCommandName = createCommandNamer(context.name, Object.keys(commands));
  const printOut = (line: string): void => context.printOut(withCommandName(line));
  const printErr = (line: string): void => context.printErr(withCommandName(line));
  try {
    const { flags, positionals } = parseFlags(args);
    const asksForHelp = positionals[0] === 'help';
    const [name = '', ...rest] = asksForHelp ? positionals.slice(1) : positionals;
    if (name !== '' && !isCommand(name)) throw new UsageError(unknownCommand(name));
    const { help, takesNoArguments }: Description = name === '' ? exporter : commands[name];
    if (asksForHelp || flags.help) {
      printOut(help);
      return 0;
    }
    if (flags.version) {
      const { version, revision, nodeVersion } = context.build;
      printOut(`zlb-exporter ${version} (revision ${revision}, Node.js ${nodeVersion})`);
      return 0;
    }
    assertFlagsTaken(flags, name);
    if (takesNoArguments && rest.length > 0)
      throw new UsageError(`${name} takes no arguments; ${name} --help shows how it is called`);
    const command = await loaders[name]();
    return await command({ ...context, withCommandName, printOut, printErr, flags, arguments: rest });
  } catch (error) {
    // A monitoring system reads standard output, and takes 2 for critical.
    if (error instanceof UsageError && args.find((word) => !word.startsWith('-')) === 'plugin') {
      printOut(`UNKNOWN - ${error.message}`);
      return 3;
    }
    if (error instanceof ConfigError) {
      printErr(error.message);
      return 2;
    }
    if (
      error instanceof UsageError ||
      error instanceof ListenError ||
      error instanceof FileKindError ||
      error instanceof OutputError
    ) {
      printErr(`zlb-exporter: ${error.message}`);
      return error instanceof UsageError ? 2 : 1;
    }
    throw error;
  }
}

function unknownCommand(word: string): string {
  const guess = closestWord(word, Object.keys(commands));
  return `there is no command ${JSON.stringify(word)}; ${guess ? `did you mean ${guess}? ` : ''}--help lists them`;
}
