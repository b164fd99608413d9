import { Agent, get, type IncomingHttpHeaders } from 'node:http';

export type Encoding = 'plain' | 'gzip';

export interface Scrape {
  /** From the request to the last byte. */
  readonly ms: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Scrapes one server over one kept-alive connection, as Prometheus does. */
export interface Scraper {
  /** The page of all appliances, or another path. */
  scrape(encoding: Encoding, path?: string): Promise<Scrape>;
  close(): void;
}

export function createScraper(url: string): Scraper {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    scrape: (encoding, path = '/metrics') =>
      new Promise((resolve, reject) => {
        const headers = { accept: 'text/plain', 'accept-encoding': encoding === 'gzip' ? 'gzip' : 'identity' };
        const startedAtMs = performance.now();
        get(`${url}${path}`, { agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const ms = performance.now() - startedAtMs;
            resolve({ ms, headers: response.headers, body: Buffer.concat(chunks) });
          });
        }).on('error', reject);
      }),
    close: () => agent.destroy(),
  };
}
