import { Agent, request } from 'undici';
import { isRecord } from '../../src/lib/check.ts';
import { type ExporterProcess, type LogEntry, type Program, startExporterProcess } from '../exporter.ts';
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

type Format = 'text' | 'openmetrics';

/** An answer of the metrics listener. */
export interface ReadPage {
  readonly status: number;
  readonly text: string;
  /** Unix milliseconds at which it was asked for. */
  readonly askedAtMs: number;
}

/** Reads pages as Prometheus does. */
export interface PageReader {
  read(path: string, format?: Format): Promise<ReadPage>;
  reload(): Promise<{ readonly status: number; readonly text: string }>;
  close(): Promise<void>;
}

export function createPageReader(
  { metricsUrl }: Pick<ExporterProcess, 'metricsUrl'>,
  headers: Readonly<Record<string, string>>,
): PageReader {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const accept = { text: 'text/plain;version=0.0.4', openmetrics: 'application/openmetrics-text;version=1.0.0' };

  async function get(path: string, format: Format): Promise<ReadPage> {
    const askedAtMs = Date.now();
    const answer = await request(metricsUrl + path, { dispatcher, headers: { ...headers, accept: accept[format] } });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, askedAtMs };
  }

  return {
    // A kept connection may have been closed just now: it is asked again on another one.
    read: (path, format = 'text') => get(path, format).catch(() => get(path, format)),
    async reload() {
      const answer = await request(`${metricsUrl}/-/reload`, { dispatcher, headers, method: 'POST' });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    close: () => dispatcher.destroy(),
  };
}
