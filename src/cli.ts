import type { BuildInfo } from './app/build-info.ts';
import { type CommandName, commands, type Description, exporter, isCommand } from './commands/commands.ts';
import { type Command, type CommandContext, UsageError } from './commands/command.ts';
import { parseFlags, refuseForeignFlags } from './commands/flags.ts';
import { spokenAs } from './commands/shell.ts';
import { closestWord } from './lib/text.ts';
import { ConfigError } from './config/problems.ts';
import { ListenError } from './lib/listen.ts';
import { FileKindError } from './lib/disk.ts';

/** Loaded on demand: a health check every few seconds must not load a server. */
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

export interface Edge extends Omit<CommandContext, 'flags' | 'arguments' | 'spoken'> {
  readonly build: BuildInfo;
  /** The command that users type, such as `zlb-exporter`. */
  readonly name: string;
}

/**
 * Runs the program with its command-line arguments; resolves to the exit code, and rejects only for
 * a bug.
 */
export async function runCommandLine(words: readonly string[], edge: Edge): Promise<number> {
  const spoken = spokenAs(edge.name, Object.keys(commands));
  const say = (line: string): void => edge.say(spoken(line));
  const warn = (line: string): void => edge.warn(spoken(line));
  try {
    const { flags, positionals } = parseFlags(words);
    const asksForHelp = positionals[0] === 'help';
    const [name = '', ...rest] = asksForHelp ? positionals.slice(1) : positionals;
    if (name !== '' && !isCommand(name)) throw new UsageError(unknownCommand(name));
    const { help, takesNoArguments }: Description = name === '' ? exporter : commands[name];
    if (asksForHelp || flags.help) {
      say(help);
      return 0;
    }
    if (flags.version) {
      say(`zlb-exporter ${edge.build.version} (revision ${edge.build.revision}, Node.js ${edge.build.nodeVersion})`);
      return 0;
    }
    refuseForeignFlags(flags, name);
    if (takesNoArguments && rest.length > 0)
      throw new UsageError(`${name} takes no arguments; ${name} --help shows how it is called`);
    const command = await loaders[name]();
    return await command({ ...edge, spoken, say, warn, flags, arguments: rest });
  } catch (error) {
    // A monitoring system reads standard output, and takes 2 for critical.
    if (error instanceof UsageError && words.find((word) => !word.startsWith('-')) === 'plugin') {
      say(`UNKNOWN - ${error.message}`);
      return 3;
    }
    if (error instanceof ConfigError) {
      warn(error.message);
      return 2;
    }
    if (error instanceof UsageError || error instanceof ListenError || error instanceof FileKindError) {
      warn(`zlb-exporter: ${error.message}`);
      return error instanceof UsageError ? 2 : 1;
    }
    throw error;
  }
}

function unknownCommand(word: string): string {
  const guess = closestWord(word, Object.keys(commands));
  return `there is no command ${JSON.stringify(word)}; ${guess ? `did you mean ${guess}? ` : ''}--help lists them`;
}
