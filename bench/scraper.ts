import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

export type Encoding = 'plain' | 'gzip';

export interface Scrape {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Scrapes one server over one kept-alive connection, as Prometheus does. */
export interface Scraper {
  scrape(encoding: Encoding): Promise<Scrape>;
  /** Milliseconds from the request to the last byte. */
  time(encoding: Encoding): Promise<number>;
  close(): void;
}

const path = '/metrics';
/** The size of a read from the socket. */
const bufferBytes = 1_048_576;
const endOfHead = '\r\n\r\n';
const lastChunk = '0\r\n\r\n';

/**
 * Times over a socket of its own, and reads everything into the same memory: node:http would
 * allocate each page again, and clearing that away takes longer than the pages do.
 */
export function createScraper(url: string): Scraper {
  const { hostname, port, host } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  let socket: Socket | undefined;
  let take: ((content: Buffer) => void) | undefined;
  let fail: ((reason: Error) => void) | undefined;

  function open(): Socket {
    const callback = (length: number): boolean => {
      take?.(buffer.subarray(0, length));
      return true;
    };
    return connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } })
      .on('error', (error) => fail?.(error))
      .on('close', () => {
        socket = undefined;
        fail?.(new Error(`${url} closed the connection`));
      });
  }

  return {
    scrape(encoding) {
      return new Promise((resolve, reject) => {
        get(`${url}${path}`, { agent, headers: headersFor(encoding) }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
        }).on('error', reject);
      });
    },
    time(encoding) {
      const lines = Object.entries({ host, ...headersFor(encoding) }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket ??= open();
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const answer = followAnswer();
      const startedAtMs = performance.now();
      fail = reject;
      take = (content) => {
        answer.take(content);
        if (answer.status !== undefined && answer.status !== 200) reject(new Error(`${url}: ${answer.status}`));
        if (answer.isWhole) resolve(performance.now() - startedAtMs);
      };
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      return promise;
    },
    close() {
      fail = undefined;
      agent.destroy();
      socket?.destroy();
    },
  };
}

function headersFor(encoding: Encoding): Record<string, string> {
  return { accept: 'text/plain', 'accept-encoding': encoding === 'gzip' ? 'gzip' : 'identity' };
}

/** Finds the end of an answer, whose body has a length or comes in chunks. */
function followAnswer() {
  let head = '';
  let status: number | undefined;
  /** Bytes of the body still to come; undefined for one in chunks. */
  let missing: number | undefined;
  let end = '';
  return {
    get status() {
      return status;
    },
    get isWhole() {
      return status !== undefined && (missing === undefined ? end === lastChunk : missing <= 0);
    },
    take(content: Buffer): void {
      let body = content;
      if (status === undefined) {
        const before = head.length;
        head += content.toString('latin1');
        const at = head.indexOf(endOfHead);
        if (at === -1) return;
        body = content.subarray(at + endOfHead.length - before);
        status = Number(head.split(' ', 2)[1]);
        const length = /^content-length: *(\d+)/im.exec(head.slice(0, at))?.[1];
        missing = length === undefined ? undefined : Number(length);
      }
      if (missing !== undefined) missing -= body.length;
      else end = (end + body.toString('latin1', Math.max(0, body.length - lastChunk.length))).slice(-lastChunk.length);
    },
  };
}
