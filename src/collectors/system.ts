import type { ReplyOf } from '../appliance/client.ts';
import { defineCollector, type ReadingFamily } from './collector.ts';
import { rowsOf } from './rows.ts';

const bytesPerMebibyte = 1_048_576;

/**
 * Returns whole bytes; the appliance counts traffic and memory in MiB with two decimals. Unknown
 * stays unknown.
 */
export function mebibytesToBytes(mebibytes: number | null | undefined): number | null {
  return mebibytes === null || mebibytes === undefined ? null : Math.round(mebibytes * bytesPerMebibyte);
}

/** Null where the appliance does not say. */
export interface SystemStats {
  readonly cores: number | null;
  /** CPU time by mode, from 0 to 1. */
  readonly cpu: readonly { readonly mode: string; readonly ratio: number | null }[];
  readonly load: { readonly [Field in keyof Load]: number | null };
  readonly memoryBytes: { readonly [Field in keyof Memory]: number | null };
}

type Stats = ReplyOf<'readStats'>['params'];
type Load = Required<NonNullable<Stats['load']>>;
type Memory = Required<NonNullable<Stats['memory']>>;

const modes = ['user', 'nice', 'sys', 'iowait', 'irq', 'softirq', 'idle'] as const;
const ofModes = rowsOf(({ cpu }: SystemStats) => cpu, { mode: ({ mode }) => mode });
const ofSystem = rowsOf((stats: SystemStats) => [stats], {});

/** CPU, load and memory. The call samples the CPU for one second on the appliance. */
export const system = defineCollector<SystemStats>({
  name: 'system',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  refreshedBy: [],
  async collect({ read }) {
    return toSystemStats((await read('readStats', {})).params);
  },
  families: [
    ofModes.gauge(
      'zlb_system_cpu_ratio',
      'Share of CPU time by mode over one second; steal time is not counted (GET /stats, cpu).',
      ({ ratio }) => ratio,
    ),
    ofSystem.gauge('zlb_system_cpu_cores', 'CPU cores (GET /stats, cpu.cores).', ({ cores }) => cores),
    loadFamily('zlb_system_load1', '1 minute', 'Last_1'),
    loadFamily('zlb_system_load5', '5 minutes', 'Last_5'),
    loadFamily('zlb_system_load15', '15 minutes', 'Last_15'),
    memoryFamily('memory_total', 'Memory', 'MemTotal'),
    memoryFamily('memory_free', 'Memory that nothing uses', 'MemFree'),
    memoryFamily('memory_used', 'Memory in use, total less available', 'MemUsed'),
    memoryFamily('memory_buffers', 'Memory in buffers', 'Buffers'),
    memoryFamily('memory_cached', 'Memory in the page cache', 'Cached'),
    memoryFamily('swap_total', 'Swap space', 'SwapTotal'),
    memoryFamily('swap_free', 'Swap space that nothing uses', 'SwapFree'),
    memoryFamily('swap_used', 'Swap space in use', 'SwapUsed'),
    memoryFamily('swap_cached', 'Swap space that is also in memory', 'SwapCached'),
  ],
});

function loadFamily(name: string, period: string, field: keyof Load): ReadingFamily<SystemStats> {
  return ofSystem.gauge(name, `Load average over ${period} (GET /stats, load).`, ({ load }) => load[field]);
}

function memoryFamily(name: string, what: string, field: keyof Memory): ReadingFamily<SystemStats> {
  return ofSystem.gauge(
    `zlb_system_${name}_bytes`,
    `${what} (GET /stats, memory).`,
    ({ memoryBytes }) => memoryBytes[field],
  );
}

function toSystemStats({ cpu, load, memory }: Stats): SystemStats {
  const bytesOf = (field: keyof Memory): number | null => mebibytesToBytes(memory?.[field]);
  return {
    cores: cpu?.cores ?? null,
    cpu: modes.map((mode) => ({ mode, ratio: toRatio(cpu?.[mode]) })),
    load: { Last_1: load?.Last_1 ?? null, Last_5: load?.Last_5 ?? null, Last_15: load?.Last_15 ?? null },
    memoryBytes: {
      MemTotal: bytesOf('MemTotal'),
      MemFree: bytesOf('MemFree'),
      MemUsed: bytesOf('MemUsed'),
      Buffers: bytesOf('Buffers'),
      Cached: bytesOf('Cached'),
      SwapTotal: bytesOf('SwapTotal'),
      SwapFree: bytesOf('SwapFree'),
      SwapUsed: bytesOf('SwapUsed'),
      SwapCached: bytesOf('SwapCached'),
    },
  };
}

/** Returns 0.285 and not 0.28500000000000003: the source has two decimals of a percent. */
function toRatio(percent: number | null | undefined): number | null {
  return percent === null || percent === undefined ? null : Number((percent / 100).toFixed(6));
}
