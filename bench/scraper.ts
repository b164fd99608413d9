import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { createStopwatch } from './stopwatch.ts';

export type Encoding = 'plain' | 'gzip';

export interface Scrape {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Scrapes one server over one kept-alive connection, as Prometheus does. */
export interface Scraper {
  /** The page of all appliances, or another path. */
  scrape(encoding: Encoding, path?: string): Promise<Scrape>;
  /** Milliseconds from the request to the last byte. */
  time(encoding: Encoding, path?: string): Promise<number>;
  close(): void;
}

export function createScraper(url: string): Scraper {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const stopwatch = createStopwatch(url);

  return {
    scrape(encoding, path = '/metrics') {
      return new Promise((resolve, reject) => {
        get(`${url}${path}`, { agent, headers: headersFor(encoding) }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
        }).on('error', reject);
      });
    },
    time: (encoding, path = '/metrics') => stopwatch.time(path, headersFor(encoding)),
    close() {
      agent.destroy();
      stopwatch.close();
    },
  };
}

function headersFor(encoding: Encoding): Record<string, string> {
  return { accept: 'text/plain', 'accept-encoding': encoding === 'gzip' ? 'gzip' : 'identity' };
}
