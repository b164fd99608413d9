import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Encoding } from './scraper.ts';

/** What the reference sends for one value of Accept-Encoding: copied from an answer of the exporter. */
export interface StaticAnswer {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/** By the encoding that is asked for; one that nobody asks for need not be there. */
export type StaticAnswers = Partial<Record<Encoding, StaticAnswer>>;

// The child process that is the reference: the fastest that node:http can send the bytes it was given.
process.once('message', ({ plain, gzip }: StaticAnswers) => {
  const server = createServer((request, response) => {
    const answer = request.headers['accept-encoding'] === 'gzip' ? gzip : plain;
    response.writeHead(answer ? 200 : 406, answer?.headers).end(answer?.body);
  });
  // Others have their turns between two requests.
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ url: `http://127.0.0.1:${port}` });
  });
});
process.on('disconnect', () => process.exit());
