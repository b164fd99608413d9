import { relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { errorCode } from '../lib/check.ts';
import { escapeUnseen } from '../lib/text.ts';
import { OutputError, type Shell } from './command.ts';

interface ShellOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stopped: AbortSignal;
  /** Called for Ctrl-C while a question is open: readline keeps the signal from the process. */
  readonly interrupt: () => void;
}

function discardingOutput(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/**
 * Creates a shell from the standard streams of a process. Questions go to standard error, where
 * they are not part of a result.
 */
export function createShell({ stdin, stdout, stderr, stopped, interrupt }: ShellOptions): Shell {
  // Lines that were pasted with an earlier answer. They answer what is hidden, such as a key, and
  // never a question that agrees to a change.
  const pasted: string[] = [];

  async function ask(question: string, hidden = false): Promise<string> {
    const early = hidden ? pasted.shift() : undefined;
    if (early !== undefined) {
      stderr.write(`${question}\n`);
      return early;
    }
    // Turns the echo of the terminal off, before the question: a fast paste follows the question.
    const lines = createInterface({ input: stdin, output: hidden ? discardingOutput() : stderr, terminal: true });
    if (hidden) stderr.write(question);
    lines.on('line', (line) => pasted.push(line));
    const closed = new AbortController();
    lines.once('SIGINT', interrupt);
    // Ctrl-D ends the question with an empty answer.
    lines.once('close', () => closed.abort());
    try {
      return await lines.question(hidden ? '' : question, { signal: AbortSignal.any([stopped, closed.signal]) });
    } catch {
      return '';
    } finally {
      lines.close();
      if (hidden) stderr.write('\n');
    }
  }

  // The decoder keeps an incomplete character until the next chunk.
  const decoder = new TextDecoder();

  return {
    outputIsTerminal: stdout.isTTY,
    paint: (style, text) => (stdout.isTTY ? styleText(style, text, { stream: stdout }) : text),
    input: stdin,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        const shown = stdout.isTTY ? escapeUnseen(decoder.decode(bytes, { stream: true })) : bytes;
        // A reader such as `head` that has left is not a fault: the rest goes nowhere.
        stdout.write(shown, (error) =>
          error && errorCode(error) !== 'EPIPE' ? reject(new OutputError(error)) : resolve(),
        );
      }),
    ask: stdin.isTTY && stderr.isTTY ? ask : undefined,
  };
}

/**
 * Returns the command that starts this program: in a clone, whose `entry` is TypeScript, the script
 * at its top; with npx the file that was `started`, because the name alone would run whatever a
 * registry has under it; else the command of the package.
 */
export function ownName(entry: string, started: string, env: Readonly<Record<string, string | undefined>>): string {
  if (entry.endsWith('.ts')) {
    const file = fileURLToPath(new URL('../zlb-exporter', entry));
    const path = relative('', file);
    return path.startsWith('..') ? file : `./${path}`;
  }
  return env.npm_command === 'exec' ? started : 'zlb-exporter';
}

/** Returns a function that replaces `zlb-exporter` in the commands of a text by `name`. */
export function createCommandNamer(name: string, commands: readonly string[]): (text: string) => string {
  const called = new RegExp(String.raw`\bzlb-exporter(?= (?:--|\[|(?:COMMAND|${commands.join('|')})\b))`, 'g');
  return (text) => text.replaceAll(called, name);
}
