import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createShell } from '../../../src/commands/shell.ts';

/** The streams of a process, at a terminal or not. */
function givenShell({ isTTY }: { readonly isTTY: boolean }) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, { isTTY }),
  ) as unknown as [NodeJS.ReadStream, NodeJS.WriteStream, NodeJS.WriteStream];
  const stopping = new AbortController();
  const interrupts: string[] = [];
  const shell = createShell({
    stdin,
    stdout,
    stderr,
    stopped: stopping.signal,
    interrupt: () => {
      interrupts.push('SIGINT');
      stopping.abort();
    },
  });
  return { shell, stdin: stdin as unknown as PassThrough, stdout, stderr, stopping, interrupts };
}

it('the shell prompts on standard error, so that the output can be piped', async () => {
  const { shell, stdin, stdout, stderr } = givenShell({ isTTY: true });

  const asked = shell.ask?.('Go on? ');
  stdin.write('yes\n');

  expect(await asked).toBe('yes');
  expect(String(stderr.read())).toContain('Go on?');
  expect(stdout.read()).toBeNull();
});

it('the shell asks one question after another', async () => {
  const { shell, stdin } = givenShell({ isTTY: true });

  const first = shell.ask?.('Reason? ');
  stdin.write('because\n');
  const reason = await first;
  const second = shell.ask?.('Go on? ');
  stdin.write('y\n');

  expect([reason, await second]).toEqual(['because', 'y']);
});

it('the shell turns the echo off before a hidden prompt, so that a fast paste is not shown', async () => {
  const { shell, stdin, stderr } = givenShell({ isTTY: true });
  const shownBefore: unknown[] = [];
  Object.assign(stdin, { setRawMode: (isRaw: boolean) => isRaw && shownBefore.push(stderr.read()) });

  const asked = shell.ask?.('API key: ', true);
  stdin.write('secret\r');

  expect(await asked).toBe('secret');
  expect(shownBefore).toEqual([null]);
  expect(String(stderr.read())).toBe('API key: \n');
});

it.each([
  ['Ctrl-C', '\u0003', ['SIGINT']],
  ['Ctrl-D', '\u0004', []],
])('the shell does not accept %s as an answer', async (_name, typed, interrupts) => {
  const { shell, stdin, ...seen } = givenShell({ isTTY: true });

  const asked = shell.ask?.('Go on? ');
  stdin.write(typed);

  expect(await asked).toBe('');
  expect(seen.interrupts).toEqual(interrupts);
});

it('the shell stops prompting when the process is asked to stop', async () => {
  const { shell, stopping } = givenShell({ isTTY: true });

  const asked = shell.ask?.('Go on? ');
  stopping.abort();

  expect(await asked).toBe('');
});

it('the shell ignores a closed pipe, and reports any other failure of the output', async () => {
  const failing = (code: string) => {
    const { shell, stdout } = givenShell({ isTTY: false });
    stdout.on('error', () => undefined);
    stdout._write = (_chunk, _encoding, done) => done(Object.assign(new Error('cannot write'), { code }));
    return shell.write(Buffer.from('{}'));
  };

  await expect(failing('EPIPE')).resolves.toBeUndefined();
  await expect(failing('ENOSPC')).rejects.toThrow('the output could not be written (ENOSPC)');
});

it('the shell cannot prompt without a terminal, and writes bytes unchanged', async () => {
  const { shell, stdout } = givenShell({ isTTY: false });

  await shell.write(Buffer.from([0, 255, 27]));

  expect(shell.ask).toBeUndefined();
  expect(shell.outputIsTerminal).toBe(false);
  expect(stdout.read()).toEqual(Buffer.from([0, 255, 27]));
});

it('the shell writes text to a terminal with escaped controls', async () => {
  const { shell, stdout } = givenShell({ isTTY: true });
  const json = '{\n\t"name": "é\u001b]0;owned\u0007\u009b2J\r\u007f\u202e\u2028\u200b\u{e0041}"\r\n}\n';

  const withinLetter = Buffer.from(json).indexOf(0xa9);
  await shell.write(Buffer.from(json).subarray(0, withinLetter));
  await shell.write(Buffer.from(json).subarray(withinLetter));
  await shell.write(Buffer.from([0x9b, 0x0a]));

  expect(String(stdout.read())).toBe(
    '{\n\t"name": "é\\u001b]0;owned\\u0007\\u009b2J\\u000d\\u007f\\u202e\\u2028\\u200b\\udb40\\udc41"\r\n}\n\ufffd\n',
  );
});

it('the shell reports a failed write', async () => {
  const { shell, stdout } = givenShell({ isTTY: false });
  stdout.on('error', () => undefined);
  stdout.destroy(new Error('gone'));

  await expect(shell.write(Buffer.from('x'))).rejects.toThrow();
});

it('the shell colours output on a terminal, not in a pipe', () => {
  expect(givenShell({ isTTY: true }).shell.paint('red', 'FAILED')).toBe('\u001b[31mFAILED\u001b[39m');
  expect(givenShell({ isTTY: false }).shell.paint('red', 'FAILED')).toBe('FAILED');
});
