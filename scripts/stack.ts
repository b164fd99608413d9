import { watchForHangup } from '../src/commands/shell.ts';
import { swallowedFlags } from '../src/commands/npm-flags.ts';
import { help, options, parseStackFlags } from './stack/flags.ts';
import { painted } from './stack/notifications.ts';
import { runStack } from './stack/run-stack.ts';
import { StackError } from './stack/program.ts';

const stopping = new AbortController();
// npm passes a signal on that the terminal has sent already; a second one is nothing new.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
// The reader of the output may stop early, as `head` does; everything must still be stopped then.
process.stdout.on('error', () => stopping.abort());

watchForHangup({ env: process.env, stop: () => stopping.abort(), stopped: stopping.signal });

const say = (line: string) => void process.stdout.write(`${painted(line, process.stdout)}\n`);

const words = process.argv.slice(2);
const swallowed = swallowedFlags({ words, env: process.env, flags: options });
if (swallowed !== undefined) {
  process.stderr.write(`stack: ${swallowed}\n`);
  process.exit(2);
}

try {
  const flags = parseStackFlags(words);
  if (flags.help) say(help);
  else await runStack({ flags, stopped: stopping.signal, say });
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  // Lines that are set in belong to the one above.
  process.stderr.write(`${error.message.replaceAll(/^(?! )/gm, 'stack: ')}\n`);
  process.exitCode = 1;
}
