import type { BuildInfo } from './build-info.ts';
import { type Command, type CommandContext, UsageError } from './commands/command.ts';
import { parseFlags, refuseForeignFlags } from './commands/flags.ts';
import { ConfigError } from './config/problems.ts';
import { ListenError } from './http/listen.ts';

const defaults: Readonly<Record<string, string>> = { 'web.listen-address': ':9444', 'log.format': 'json' };

/** Loaded when called: a health check every few seconds need not load a server. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['admin', async () => (await import('./commands/admin/admin.ts')).admin],
  ['audit', async () => (await import('./commands/audit.ts')).audit],
  ['check', async () => (await import('./commands/check.ts')).check],
  ['fingerprint', async () => (await import('./commands/fingerprint.ts')).fingerprint],
  ['healthcheck', async () => (await import('./commands/healthcheck.ts')).healthcheck],
  ['simulate', async () => (await import('./commands/simulate.ts')).simulate],
  ['token', async () => (await import('./commands/token.ts')).token],
]);
const withArguments: readonly string[] = ['admin', 'audit', 'fingerprint'];
const run = async (): Promise<Command> => (await import('./commands/run.ts')).run;

const help = `Usage: zlb-exporter [flags]                  the exporter; without a configuration, a demonstration
       zlb-exporter check [flags]            validate the configuration and try each appliance, read-only
       zlb-exporter fingerprint HOST[:PORT]  print the SHA-256 of a certificate, to pin it
       zlb-exporter simulate                 only the simulated appliances
       zlb-exporter healthcheck [flags]      ask the exporter on this machine whether it is healthy
       zlb-exporter admin …                  change things through a running exporter; see admin --help
       zlb-exporter token                    make a token for that, and its digest for the configuration
       zlb-exporter audit verify FILE        check that nobody changed the record of what was done

Flags
  --config.file=PATH           the configuration (docs/configuration.md)
  --shard=INDEX/COUNT          watch a share of its appliances, 0/3 to 2/3 with three processes (docs/scaling.md)
  --web.listen-address=ADDR    where to listen, host:port or :port (default :9444)
  --web.config.file=PATH       TLS and passwords for it, as in Prometheus (docs/web-configuration.md)
  --web.enable-lifecycle       let POST /-/reload read the configuration again, as SIGHUP does
  --log.level=LEVEL            debug, info, warn or error (default info)
  --log.format=FORMAT          json or logfmt (default json)
  --version                    print the version
  -h, --help                   print this

One appliance needs no file: ZLB_APPLIANCE_URL, ZLB_API_KEY or ZLB_API_KEY_FILE, ZLB_TLS_FINGERPRINT_SHA256,
ZLB_TLS_INSECURE_SKIP_VERIFY. Exit codes: 0 after SIGTERM or SIGINT, 2 for bad flags or configuration, 1 otherwise.`;

export interface Edge extends Omit<CommandContext, 'flags' | 'arguments'> {
  readonly build: BuildInfo;
}

/** Runs the program with the words of its command line; resolves to the exit code, and rejects only for a bug. */
export async function runCommandLine(words: readonly string[], edge: Edge): Promise<number> {
  try {
    const { flags, positionals } = parseFlags(words);
    const [name, ...rest] = positionals;
    if (flags.help && name !== 'admin') {
      edge.say(help);
      return 0;
    }
    if (flags.version) {
      edge.say(
        `zlb-exporter ${edge.build.version} (revision ${edge.build.revision}, Node.js ${edge.build.nodeVersion})`,
      );
      return 0;
    }
    const load = name === undefined ? run : commands.get(name);
    if (!load) throw new UsageError(`there is no command ${JSON.stringify(name)}; --help lists them`);
    refuseForeignFlags(flags, name);
    if (name !== undefined && !withArguments.includes(name) && rest.length > 0)
      throw new UsageError(`${name} takes no arguments; --help shows how it is called`);
    const command = await load();
    return await command({ ...edge, flags: { ...defaults, ...flags }, arguments: rest });
  } catch (error) {
    if (error instanceof ConfigError) {
      edge.warn(error.message);
      return 2;
    }
    if (error instanceof UsageError || error instanceof ListenError) {
      edge.warn(`zlb-exporter: ${error.message}`);
      return error instanceof UsageError ? 2 : 1;
    }
    throw error;
  }
}
