import type { Reply } from '../appliance/client.ts';
import { type Family, gauge } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import type { ApplianceCollector } from './collector.ts';
import { mebibytesToBytes } from './mebibytes.ts';

type Stats = Reply<'readStats'>['params'];
type Memory = NonNullable<Stats['memory']>;

const cpu = gauge(
  'zlb_system_cpu_ratio',
  'Share of CPU time by mode over one second; steal time is not counted (GET /stats, cpu).',
  ['mode'],
);
const cores = gauge('zlb_system_cpu_cores', 'CPU cores (GET /stats, cpu.cores).');
const loads = [
  ['Last_1', gauge('zlb_system_load1', 'Load average over 1 minute (GET /stats, load).')],
  ['Last_5', gauge('zlb_system_load5', 'Load average over 5 minutes (GET /stats, load).')],
  ['Last_15', gauge('zlb_system_load15', 'Load average over 15 minutes (GET /stats, load).')],
] as const;
const memories: readonly (readonly [keyof Memory, Family<never>])[] = [
  ['MemTotal', memory('memory_total', 'Memory')],
  ['MemFree', memory('memory_free', 'Memory that nothing uses')],
  ['MemUsed', memory('memory_used', 'Memory in use, total less available')],
  ['Buffers', memory('memory_buffers', 'Memory in buffers')],
  ['Cached', memory('memory_cached', 'Memory in the page cache')],
  ['SwapTotal', memory('swap_total', 'Swap space')],
  ['SwapFree', memory('swap_free', 'Swap space that nothing uses')],
  ['SwapUsed', memory('swap_used', 'Swap space in use')],
  ['SwapCached', memory('swap_cached', 'Swap space that is also in memory')],
];
const modes = ['user', 'nice', 'sys', 'iowait', 'irq', 'softirq', 'idle'] as const;

/** CPU, load and memory. The call samples the CPU for one second on the appliance. */
export const system: ApplianceCollector = {
  name: 'system',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  touchedBy: [],
  families: [cpu, cores, ...loads.map(([, family]) => family), ...memories.map(([, family]) => family)],
  async collect({ read }) {
    const stats = (await read('readStats', {})).params;
    return { expose: (emit) => exposeSystem(stats, emit) };
  },
};

function exposeSystem(stats: Stats, emit: Emit): void {
  for (const mode of modes) emit.sample(cpu, { mode }, ratio(stats.cpu?.[mode]));
  emit.sample(cores, {}, stats.cpu?.cores);
  for (const [field, family] of loads) emit.sample(family, {}, stats.load?.[field]);
  for (const [field, family] of memories) emit.sample(family, {}, mebibytesToBytes(stats.memory?.[field]));
}

function memory(name: string, what: string): Family<never> {
  return gauge(`zlb_system_${name}_bytes`, `${what} (GET /stats, memory).`);
}

/** 0.285 and not 0.28500000000000003: the source has two decimals of a percent. */
function ratio(percent: number | null | undefined): number | null {
  return percent === null || percent === undefined ? null : Number((percent / 100).toFixed(6));
}
