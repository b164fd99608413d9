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
  /** Only how long it takes: a page that is kept would have to be cleared away in the course of a later one. */
  time(encoding: Encoding, path?: string): Promise<number>;
  close(): void;
}

export function createScraper(url: string): Scraper {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** Resolves with the milliseconds from the request to the last byte. */
  function read(
    encoding: Encoding,
    path: string,
    take: (chunk: Buffer) => void,
  ): Promise<Pick<Scrape, 'ms' | 'headers'>> {
    return new Promise((resolve, reject) => {
      const headers = { accept: 'text/plain', 'accept-encoding': encoding === 'gzip' ? 'gzip' : 'identity' };
      const startedAtMs = performance.now();
      get(`${url}${path}`, { agent, headers }, (response) => {
        response.on('data', take);
        response.on('error', reject);
        response.on('end', () => resolve({ ms: performance.now() - startedAtMs, headers: response.headers }));
      }).on('error', reject);
    });
  }

  return {
    async scrape(encoding, path = '/metrics') {
      const chunks: Buffer[] = [];
      const scrape = await read(encoding, path, (chunk) => chunks.push(chunk));
      return { ...scrape, body: Buffer.concat(chunks) };
    },
    async time(encoding, path = '/metrics') {
      const { ms } = await read(encoding, path, () => undefined);
      return ms;
    },
    close: () => agent.destroy(),
  };
}
