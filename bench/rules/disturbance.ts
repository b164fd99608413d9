import { cpus } from 'node:os';

/** Processor time of the machine, in seconds. */
interface Taken {
  readonly whole: number;
  readonly others: number;
}

/**
 * Watches how much of the machine other programs take than this one and Prometheus; the function that it resolves with
 * tells their share since.
 */
export async function watchDisturbance(prometheus: string): Promise<() => Promise<number>> {
  const before = await taken(prometheus);
  return async () => {
    const after = await taken(prometheus);
    return Math.max(0, (after.others - before.others) / (after.whole - before.whole));
  };
}

async function taken(prometheus: string): Promise<Taken> {
  const page = await (await fetch(`${prometheus}/metrics`)).text();
  const theirs = Number(/^process_cpu_seconds_total (\S+)$/m.exec(page)?.[1]);
  const { user, system } = process.cpuUsage();
  const ours = (user + system) / 1e6;
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0) / 1e3;
  const busy = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0) / 1e3;
  return { whole: idle + busy, others: busy - ours - theirs };
}
