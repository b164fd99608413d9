import { fork } from 'node:child_process';
import { once } from 'node:events';

/** The functions of a worker, by name. */
type Calls = { readonly [Name in string]: (input: never) => unknown };

interface Asked {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

interface Answered {
  readonly id: number;
  readonly output?: unknown;
  readonly error?: string;
}

/** A process of its own that answers calls. */
export interface Worker<Known extends Calls> {
  ask<Name extends keyof Known & string>(
    name: Name,
    input: Parameters<Known[Name]>[0],
  ): Promise<Awaited<ReturnType<Known[Name]>>>;
  /** Resolves once it has ended. */
  stop(): Promise<void>;
}

export function startWorker<Known extends Calls>(script: URL): Worker<Known> {
  const child = fork(script, { serialization: 'advanced' });
  const ended = once(child, 'exit');
  const waiting = new Map<number, (answer: Answered) => void>();
  let asked = 0;
  child.on('message', (answer: Answered) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  child.once('exit', (code) => {
    for (const [id, settle] of waiting) settle({ id, error: `the process ended with ${code}` });
  });

  return {
    async ask(name, input) {
      asked += 1;
      const id = asked;
      const answered = new Promise<Answered>((resolve) => {
        waiting.set(id, resolve);
      });
      if (child.connected) child.send({ id, name, input } satisfies Asked);
      else throw new Error(`${script.pathname} is no longer there to be asked for ${name}`);
      const { output, error } = await answered;
      if (error !== undefined) throw new Error(`${name}: ${error}`);
      return output as never;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The worker's side: answers the calls of its parent, and ends when the parent does. */
export function answerCalls(calls: Calls): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, name, input }: Asked) => void answer(id, name, input));

  async function answer(id: number, name: string, input: unknown): Promise<void> {
    try {
      process.send?.({ id, output: await calls[name]?.(input as never) } satisfies Answered);
    } catch (error) {
      process.send?.({ id, error: String(error) } satisfies Answered);
    }
  }
}
