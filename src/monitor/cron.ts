import { createTask, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import { remembered } from '../lib/text.ts';

/** Ticks by cron expression. One task of node-cron serves all subscribers of the same expression. */
export interface Cron {
  /** Calls `tick` at each match until the returned function is called. */
  subscribe(expression: string, tick: () => void): () => void;
  /** {@link intervalOf}, computed once per expression: it takes a millisecond. */
  intervalMs(expression: string): number;
  close(): Promise<void>;
}

interface RunningTask {
  readonly task: ScheduledTask;
  readonly ticks: Set<() => void>;
}

export function createCron(log: Logger): Cron {
  const tasks = new Map<string, RunningTask>();

  // Without a logger of its own node-cron prints to standard output.
  const logger = {
    info: (message: string) => log.debug(message),
    warn: (message: string) => log.warn(message),
    error: (message: string | Error) => log.error(message),
    debug: (message: string | Error) => log.debug(message),
  };

  function startTask(expression: string): RunningTask {
    const ticks = new Set<() => void>();
    const task = createTask(expression, () => ticks.forEach((each) => each()), { logger });
    tasks.set(expression, { task, ticks });
    void task.start();
    return { task, ticks };
  }

  return {
    subscribe(expression, tick) {
      const { task, ticks } = tasks.get(expression) ?? startTask(expression);
      ticks.add(tick);
      return () => {
        if (!ticks.delete(tick) || ticks.size > 0) return;
        tasks.delete(expression);
        void task.destroy();
      };
    },
    intervalMs: remembered(intervalOf),
    async close() {
      for (const { task } of tasks.values()) await task.destroy();
      tasks.clear();
    },
  };
}

/** More than an hour of every few minutes, so that a gap at the change of the hour is always seen. */
const checkedMatches = 32;

/** Milliseconds between two matches of an expression: the shortest gap among the next matches. */
export function intervalOf(expression: string): number {
  const task = createTask(expression, () => undefined);
  const times = task.getNextRuns(checkedMatches).map((date) => date.getTime());
  void task.destroy();
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return Math.max(1_000, Math.min(...gaps, 7 * 86_400_000));
}
