import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import type { Shell } from './command.ts';

interface ShellParts {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stopped: AbortSignal;
  /** Called for Ctrl-C while a question is open: readline keeps the signal from the process. */
  readonly interrupt: () => void;
}

/** Control characters and characters that turn the reading direction; not line breaks and tabs. */
const commands = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Returns the JSON escape of a character. */
function escapeOf(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The standard streams of a process. Questions go to standard error, where they are no part of a result. */
export function createShell({ stdin, stdout, stderr, stopped, interrupt }: ShellParts): Shell {
  async function ask(question: string): Promise<string> {
    const lines = createInterface({ input: stdin, output: stderr });
    const closed = new AbortController();
    lines.once('SIGINT', interrupt);
    // Ctrl-D ends the question with an empty answer.
    lines.once('close', () => closed.abort());
    try {
      return await lines.question(question, { signal: AbortSignal.any([stopped, closed.signal]) });
    } catch {
      return '';
    } finally {
      lines.close();
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
        const shown = stdout.isTTY ? decoder.decode(bytes, { stream: true }).replaceAll(commands, escapeOf) : bytes;
        stdout.write(shown, (error) => (error ? reject(error) : resolve()));
      }),
    ask: stdin.isTTY && stderr.isTTY ? ask : undefined,
  };
}
