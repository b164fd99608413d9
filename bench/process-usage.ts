import { readdirSync, readFileSync } from 'node:fs';

/** The resources of a process, as the kernel counts them. */
export interface ProcessUsage {
  readonly residentBytes: number;
  readonly maxResidentBytes: number;
  /** Open files and sockets. */
  readonly handles: number;
}

export function usageOf(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
  return {
    residentBytes: bytes('VmRSS'),
    maxResidentBytes: bytes('VmHWM'),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  };
}
