import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import type { Shell } from './command.ts';

interface ShellParts {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stopped: AbortSignal;
  /** Ctrl-C while a question is open: a terminal that is read line by line keeps it from the process. */
  readonly interrupt: () => void;
}

/** Controls of a terminal and what turns the reading direction; not the ends of lines. */
const commands = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** As it stands in JSON, where most of it comes from. */
function escapeOf(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The standard streams of a process. Questions go to standard error, where they are no part of a result. */
export function createShell({ stdin, stdout, stderr, stopped, interrupt }: ShellParts): Shell {
  async function ask(question: string): Promise<string> {
    const lines = createInterface({ input: stdin, output: stderr });
    const closed = new AbortController();
    lines.once('SIGINT', interrupt);
    // Ctrl-D gives no answer, which is one.
    lines.once('close', () => closed.abort());
    try {
      return await lines.question(question, { signal: AbortSignal.any([stopped, closed.signal]) });
    } catch {
      return '';
    } finally {
      lines.close();
    }
  }

  // It keeps what a chunk has of a letter until the next one brings the rest.
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
