import { fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';

/** A server in a process of its own. */
export interface Child {
  readonly url: string;
  /** What it reported when it had started, its URL included where it has one. */
  readonly report: unknown;
  /** Sends a message and resolves with its answer. */
  ask(message: Serializable): Promise<unknown>;
  stop(): void;
}

/** Starts a script that reports its URL; where it waits for a message before, that is `first`. */
export async function startChild(script: URL, first?: Serializable): Promise<Child> {
  const child = fork(script, { serialization: 'advanced' });
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`${script.pathname} ended with ${code}`);
  });
  const started = Promise.race([once(child, 'message'), ended]);
  if (first !== undefined) child.send(first);
  const [report] = (await started) as [{ readonly url?: string }];
  return {
    url: report.url ?? '',
    report,
    async ask(message) {
      const answered = once(child, 'message');
      child.send(message);
      const [answer] = await answered;
      return answer;
    },
    stop: () => child.connected && child.disconnect(),
  };
}
