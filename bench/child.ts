import { fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';

/** A server in a process of its own. */
export interface Child {
  /** The report that it sent after its start. */
  readonly report: unknown;
  stop(): void;
}

/** Starts a script, sends it a message, and resolves once it has reported. */
export async function startChild(script: URL, message: Serializable): Promise<Child> {
  const child = fork(script, { serialization: 'advanced' });
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`${script.pathname} ended with ${code}`);
  });
  const started = Promise.race([once(child, 'message'), ended]);
  child.send(message);
  const [report] = await started;
  return { report, stop: () => child.connected && child.disconnect() };
}
