import { isatty } from 'node:tty';

export interface HangupParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the process as SIGTERM does. */
  readonly stop: () => void;
  /** Aborts when the process is ending. */
  readonly stopped: AbortSignal;
}

/** Scripts of package.json that put the program in the place of their shell, so that npm is its parent. */
const npmScripts: readonly string[] = ['start', 'simulate', 'stack'];
/** How soon the end of npm is noticed. */
const lookEveryMs = 500;
/** A hang-up reaches npm and this process together. */
const togetherMs = 5_000;

/**
 * Returns what to do at SIGHUP: `stop` when the terminal that this process runs in was closed, otherwise `reload`.
 * Also stops the process when the `npm start` that started it has ended, since npm passes on SIGINT and SIGTERM alone:
 * a SIGHUP ends npm and would leave this process behind with its port. Behind `nohup` or `setsid` no standard stream is
 * a terminal; then a hang-up that reaches both ends npm alone.
 */
export function watchForHangup({ env, stop, stopped }: HangupParts): () => 'reload' | 'stop' {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  const parent = process.ppid;
  let hungUpAtMs = Number.NEGATIVE_INFINITY;

  if (env.npm_package_name === 'zlb-exporter' && npmScripts.includes(env.npm_lifecycle_event ?? '')) {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      if (terminals.length > 0 || performance.now() - hungUpAtMs > togetherMs) stop();
    }, lookEveryMs).unref();
    stopped.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  return () => {
    hungUpAtMs = performance.now();
    // A terminal that hung up is a terminal no more.
    return terminals.length > 0 && !terminals.some((fd) => isatty(fd)) ? 'stop' : 'reload';
  };
}
