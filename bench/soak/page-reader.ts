import { Agent, type Dispatcher, request } from 'undici';
import { isClosedSocket } from '../../src/appliance/failure.ts';
import type { ExporterProcess } from './exporter-process.ts';

/** An answer of the metrics listener. */
export interface ReadPage {
  readonly status: number;
  readonly text: string;
  readonly format: 'text' | 'openmetrics';
  /** Unix milliseconds at which it was asked for. */
  readonly askedAtMs: number;
  readonly tookMs: number;
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

  /** A kept connection may have been closed just now; as Prometheus does, it is asked again on another one. */
  async function get(path: string, format: ReadPage['format']): Promise<Dispatcher.ResponseData> {
    const ask = () => request(metricsUrl + path, { dispatcher, headers: { ...headers, accept: accept[format] } });
    return await ask().catch((error: unknown) => {
      if (!isClosedSocket(error)) throw error;
      return ask();
    });
  }

  return {
    async read(path, format = 'text') {
      const askedAtMs = Date.now();
      const answer = await get(path, format);
      const text = await answer.body.text();
      return { status: answer.statusCode, text, format, askedAtMs, tookMs: Date.now() - askedAtMs };
    },
    async reload() {
      const answer = await request(`${metricsUrl}/-/reload`, { dispatcher, headers, method: 'POST' });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    close: () => dispatcher.destroy(),
  };
}
