import type { ReplyOf } from '../appliance/client.ts';
import { plural } from '../lib/text.ts';
import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

const bytesPerMebibyte = 1_048_576;

/**
 * Returns whole bytes; the appliance counts traffic and memory in MiB with two decimals. Unknown
 * stays unknown.
 */
export function mebibytesToBytes(mebibytes: number | null | undefined): number | undefined {
  return mebibytes === null || mebibytes === undefined ? undefined : Math.round(mebibytes * bytesPerMebibyte);
}

/** Undefined where the appliance does not say. */
export interface SystemStats {
  readonly cores: number | undefined;
  /** CPU time by mode, from 0 to 1. */
  readonly cpu: readonly { readonly mode: string; readonly ratio: number | undefined }[];
  /** By the field of the reply, as the next. */
  readonly load: Readonly<Record<string, number | undefined>>;
  readonly memoryBytes: Readonly<Record<string, number | undefined>>;
}

type Stats = ReplyOf<'readStats'>['params'];

const modes = ['user', 'nice', 'sys', 'iowait', 'irq', 'softirq', 'idle'] as const;
const loads = [
  { field: 'Last_1', minutes: 1 },
  { field: 'Last_5', minutes: 5 },
  { field: 'Last_15', minutes: 15 },
] as const;
const memories = [
  { field: 'MemTotal', name: 'memory_total', what: 'Memory' },
  { field: 'MemFree', name: 'memory_free', what: 'Memory that nothing uses' },
  { field: 'MemUsed', name: 'memory_used', what: 'Memory in use, total less available' },
  { field: 'Buffers', name: 'memory_buffers', what: 'Memory in buffers' },
  { field: 'Cached', name: 'memory_cached', what: 'Memory in the page cache' },
  { field: 'SwapTotal', name: 'swap_total', what: 'Swap space' },
  { field: 'SwapFree', name: 'swap_free', what: 'Swap space that nothing uses' },
  { field: 'SwapUsed', name: 'swap_used', what: 'Swap space in use' },
  { field: 'SwapCached', name: 'swap_cached', what: 'Swap space that is also in memory' },
] as const;
const modeRows = rowsOf(({ cpu }: SystemStats) => cpu, { mode: ({ mode }) => mode });
const systemRows = rowsOf((stats: SystemStats) => [stats], {});

/** CPU, load and memory. The call samples the CPU for one second on the appliance. */
export const systemCollector: ApplianceWideCollector<SystemStats> = {
  name: 'system',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  refreshedBy: [],
  async collect({ read }) {
    return toSystemStats((await read('readStats', {})).params);
  },
  families: [
    modeRows.gauge(
      'zlb_system_cpu_ratio',
      'Share of CPU time by mode over one second; steal time is not counted (GET /stats, cpu).',
      ({ ratio }) => ratio,
    ),
    systemRows.gauge('zlb_system_cpu_cores', 'CPU cores (GET /stats, cpu.cores).', ({ cores }) => cores),
    ...loads.map(({ field, minutes }) =>
      systemRows.gauge(
        `zlb_system_load${minutes}`,
        `Load average over ${plural(minutes, 'minute')} (GET /stats, load).`,
        ({ load }) => load[field],
      ),
    ),
    ...memories.map(({ field, name, what }) =>
      systemRows.gauge(
        `zlb_system_${name}_bytes`,
        `${what} (GET /stats, memory).`,
        ({ memoryBytes }) => memoryBytes[field],
      ),
    ),
  ],
};

function toSystemStats({ cpu, load, memory }: Stats): SystemStats {
  return {
    cores: cpu?.cores ?? undefined,
    cpu: modes.map((mode) => ({ mode, ratio: toRatio(cpu?.[mode]) })),
    load: Object.fromEntries(loads.map(({ field }) => [field, load?.[field] ?? undefined])),
    memoryBytes: Object.fromEntries(memories.map(({ field }) => [field, mebibytesToBytes(memory?.[field])])),
  };
}

/** Returns 0.285 and not 0.28500000000000003: the source has two decimals of a percent. */
function toRatio(percent: number | null | undefined): number | undefined {
  return percent === null || percent === undefined ? undefined : Number((percent / 100).toFixed(6));
}
