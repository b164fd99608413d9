import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from '../../src/lib/check.ts';

/** What a process holds. */
export interface Usage {
  readonly residentBytes: number;
  readonly handles: number;
  readonly sockets: number;
}

/** Reads it from the kernel, not from the process itself. */
export function usageOf(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const folder = `/proc/${pid}/fd`;
  const handles = readdirSync(folder).map((handle) => targetOf(`${folder}/${handle}`));
  return {
    residentBytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024,
    handles: handles.length,
    sockets: handles.filter((target) => target.startsWith('socket:')).length,
  };
}

function targetOf(handle: string): string {
  try {
    return readlinkSync(handle);
  } catch (error) {
    // Closed since the folder was listed.
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
