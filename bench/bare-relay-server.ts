import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

// The child process that is the least a relay can be: no token, no policy, no audit, the answer as it comes.
process.once('message', ({ url, apiKey }: { url: string; apiKey: string }) => start(url, apiKey));
process.on('disconnect', () => process.exit());

function start(url: string, apiKey: string): void {
  const pool = new Pool(url, { connections: 4, pipelining: 1, connect: { rejectUnauthorized: false } });
  const server = createServer((request, response) => void relay(pool, apiKey, request, response));
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
}

async function relay(pool: Pool, apiKey: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { statusCode, headers, body } = await pool.request({
    method: 'GET',
    path: request.url ?? '/',
    headers: { API_KEY: apiKey },
  });
  const content = Buffer.from(await body.arrayBuffer());
  response
    .writeHead(statusCode, { 'content-type': String(headers['content-type']), 'content-length': content.length })
    .end(content);
}
