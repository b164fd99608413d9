import { Agent, request } from 'undici';
import type { ExporterProcess } from '../exporter-process.ts';

/** An answer of the metrics listener. */
export interface ReadPage {
  readonly status: number;
  readonly text: string;
  readonly format: 'text' | 'openmetrics';
  /** Unix milliseconds at which it was asked for. */
  readonly askedAtMs: number;
}

/** Reads pages as Prometheus does. */
export interface PageReader {
  read(path: string, format?: ReadPage['format']): Promise<ReadPage>;
  reload(): Promise<{ readonly status: number; readonly text: string }>;
  close(): Promise<void>;
}

export function createPageReader(
  { metricsUrl }: Pick<ExporterProcess, 'metricsUrl'>,
  headers: Readonly<Record<string, string>>,
): PageReader {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const accept = { text: 'text/plain;version=0.0.4', openmetrics: 'application/openmetrics-text;version=1.0.0' };

  async function get(path: string, format: ReadPage['format']): Promise<ReadPage> {
    const askedAtMs = Date.now();
    const answer = await request(metricsUrl + path, { dispatcher, headers: { ...headers, accept: accept[format] } });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, format, askedAtMs };
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
