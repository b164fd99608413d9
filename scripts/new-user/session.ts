import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/** A command in a terminal of its own. */
export interface Session {
  /** Returns the output so far. */
  readonly output: () => string;
  /**
   * Resolves once what it showed fits; throws with the end of it when it ends or takes too long
   * before.
   */
  shows(what: RegExp, withinMs: number): Promise<RegExpExecArray>;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
  /** Ctrl-C, as a terminal sends it: to all that runs in it. */
  interrupt(): Promise<void>;
}

/** Runs a line as a shell does that knows nothing of the npm and the test that started this. */
export function startSession(line: string, folder: string): Session {
  const child = spawn('sh', ['-c', line], {
    cwd: folder,
    env: plainEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let code: number | null | undefined;
  void ended.then((value) => {
    code = value;
  });

  return {
    output: () => output,
    ended,
    async shows(what, withinMs) {
      const deadline = performance.now() + withinMs;
      for (;;) {
        const match = what.exec(output);
        if (match) return match;
        const late = performance.now() > deadline;
        if (late || code !== undefined) {
          const how = late ? `did not within ${withinMs / 1_000} s` : `ended with ${code} before`;
          throw new Error(`"${line}" should show ${what.source}, and ${how}. The last of it:\n${output.slice(-2_000)}`);
        }
        await delay(50);
      }
    },
    async interrupt() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
        process.kill(-child.pid, 'SIGINT');
      await ended;
    },
  };
}

/**
 * The environment of a fresh login: without what npm sets, and without the programs of this clone
 * in PATH.
 */
function plainEnvironment(): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_(?!config_(?:registry|cache|cafile|proxy|https?_proxy)$)|NODE_(?!EXTRA_CA_CERTS$)|VITEST|INIT_CWD|ZLB_|FORCE_COLOR|CI$)/.test(
        name,
      ),
  );
  const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(':') };
}
