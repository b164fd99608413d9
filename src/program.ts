import { accessSync, constants } from 'node:fs';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { runCommandLine } from './cli.ts';
import { OutputError } from './commands/command.ts';
import { createShell, ownName } from './commands/shell.ts';
import { errorCode } from './lib/check.ts';
import { sleep, steadyNow } from './lib/time.ts';
import { readBuildInfo } from './app/build-info.ts';

/** Time to stop; Prometheus, systemd and Kubernetes all allow more. */
const shutdownMs = 4_500;

const stopping = new AbortController();
// npm forwards a signal that the terminal has sent already, so a second one is ignored.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);

// Without a listener Node.js opens its debugger at this signal, which log rotations send to other
// programs: every user of the machine could read the keys through it.
process.on('SIGUSR1', () => undefined);

// Output may fail: a reader such as `head` stops, a terminal closes, a disk is full. Work goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
let outputFailure: unknown;
process.stdout.once('error', (error) => {
  if (!['EPIPE', 'EIO'].includes(errorCode(error))) outputFailure = error;
});

process.on('uncaughtException', crash);

try {
  const code = await runCommandLine(process.argv.slice(2), {
    env: process.env,
    build: readBuildInfo(process.env),
    name: ownName(import.meta.url, process.argv[1] ?? '', process.env),
    stopped: stopping.signal,
    onHangup: (listener) => void process.on('SIGHUP', listener),
    printOut: (line) => process.stdout.write(`${line}\n`),
    printErr: (line) => process.stderr.write(`${line}\n`),
    now: Date.now,
    steadyNow,
    sleep: (ms) => sleep(ms, stopping.signal),
    shell: createShell({
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      stopped: stopping.signal,
      interrupt: () => process.kill(process.pid, 'SIGINT'),
    }),
  });
  await drained(process.stdout);
  const isLost = code === 0 && outputFailure !== undefined;
  // Such as a token, of which only the digest is known then.
  if (isLost) process.stderr.write(`zlb-exporter: ${new OutputError(outputFailure).message}\n`);
  await drained(process.stderr);
  // Node.js lists a request until the end of the turn in which it was answered.
  await yieldToEventLoop();
  exit(isLost ? 1 : code);
} catch (error) {
  crash(error);
}

function crash(error: unknown): never {
  process.stderr.write(
    `zlb-exporter: internal error; please report it with the lines below\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  exit(1);
}

function stop(): void {
  if (stopping.signal.aborted) return;
  stopping.abort();
  setTimeout(() => {
    process.stderr.write(`zlb-exporter: did not stop within ${shutdownMs / 1_000} s, exiting\n`);
    exitAtOnce(1);
  }, shutdownMs).unref();
}

/** Ends the process, also while a file or a name server hangs. */
function exit(code: number): never {
  // A request that the permissions of Node.js denied stays listed until it is garbage-collected.
  if (hasOpenRequests() && process.permission) collectGarbage();
  if (hasOpenRequests()) exitAtOnce(code);
  process.exit(code);
}

/** Returns true if a thread of libuv is at work on a file or a host name. */
function hasOpenRequests(): boolean {
  return process.getActiveResourcesInfo().some((resource) => resource.includes('Req'));
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/**
 * Ends the process without waiting for its threads, which `process.exit` does: a thread that hangs
 * in a system call would hold it for ever.
 */
function exitAtOnce(code: number): never {
  // The kernel ends all threads when another program takes the place of this one.
  if (mayBeReplaced()) process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {});
  // Otherwise a signal ends them. systemd counts SIGTERM as success, and SIGKILL as failure.
  process.removeAllListeners('SIGTERM');
  process.kill(process.pid, code === 0 ? 'SIGTERM' : 'SIGKILL');
  // Process 1 of a container gets no signal from itself.
  process.exit(code);
}

/** Returns false where Node's permissions forbid it, and where it would abort with a core dump. */
function mayBeReplaced(): boolean {
  try {
    accessSync(process.execPath, constants.X_OK);
    return process.permission?.has('child') ?? true;
  } catch {
    return false;
  }
}

/**
 * Resolves when the stream has written everything: `process.exit` would lose what a pipe has not
 * taken yet.
 */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}
