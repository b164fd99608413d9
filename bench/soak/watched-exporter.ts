import { isRecord } from '../../src/lib/check.ts';
import { type ExporterProcess, type LogEntry, type Program, startExporterProcess } from '../exporter-process.ts';
import type { CanarySearch } from './canaries.ts';

/** The exporter, and what came out of it. */
export interface WatchedExporter extends ExporterProcess {
  readonly output: OutputWatch;
}

export interface OutputWatch {
  readonly lines: number;
  /**
   * Lines that are no entry of the log, such as warnings of Node.js, and entries that ask for a
   * person.
   */
  readonly unexpected: readonly string[];
  readonly leaks: readonly string[];
}

export async function startWatchedExporter(
  program: Program,
  args: readonly string[],
  search: CanarySearch,
): Promise<WatchedExporter> {
  const output = { lines: 0, unexpected: [] as string[], leaks: [] as string[] };
  const exporter = await startExporterProcess({
    program,
    args,
    hasGateway: true,
    onLine(line, entry) {
      output.lines += 1;
      const leak = search.findIn(line);
      if (leak !== undefined) output.leaks.push(leak);
      if (!entry || isAlarming(entry)) output.unexpected.push(line);
    },
  });
  return { ...exporter, output };
}

/**
 * Errors are for people, except those that the soak makes itself: broken appliances and broken
 * files.
 */
function isAlarming({ level, msg, err }: NonNullable<LogEntry>): boolean {
  if (level !== 'error' && level !== 'fatal') return false;
  const fromAppliance =
    isRecord(err) && (err['type'] === 'ApplianceError' || String(err['code']).startsWith('upstream_'));
  return !(fromAppliance && msg === 'admin request failed') && !String(msg).startsWith('configuration refused');
}
