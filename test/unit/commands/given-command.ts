import { Readable } from 'node:stream';
import type { ProcessContext } from '../../../src/cli.ts';
import type { CommandContext } from '../../../src/commands/command.ts';

/** A context for a command, and what it printed. */
export function givenContext(known: Partial<CommandContext>) {
  const said: string[] = [];
  const warned: string[] = [];
  const written: Uint8Array[] = [];
  const context: CommandContext & Pick<ProcessContext, 'name'> = {
    name: 'zlb-exporter',
    flags: {},
    arguments: [],
    env: {},
    build: { version: '1.2.3', revision: 'abc', nodeVersion: 'v24.0.0' },
    withCommandName: (text) => text,
    stopped: new AbortController().signal,
    onHangup: () => undefined,
    printOut: (line) => said.push(line),
    printErr: (line) => warned.push(line),
    now: Date.now,
    steadyNow: () => performance.now(),
    sleep: () => Promise.reject(new Error('this command waits for nothing')),
    shell: {
      outputIsTerminal: false,
      paint: (_, text) => text,
      input: Readable.from([]),
      write: async (bytes) => void written.push(bytes),
      ask: undefined,
    },
    ...known,
  };
  return { context, said, warned, written };
}
