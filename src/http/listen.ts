import type { FastifyInstance } from 'fastify';

/** Listens on `host:port`, `:port` or `[v6]:port`; resolves to the URL for people. An empty host is every address. */
export async function listen(app: FastifyInstance, address: string): Promise<string> {
  const { host, port } = parseListenAddress(address) ?? { host: '', port: Number.NaN };
  await app.listen({ host: host === '' ? '::' : host, port });
  const bound = app.server.address();
  const actual = typeof bound === 'object' && bound ? bound.port : port;
  const shown = host === '' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${actual}`;
}

/** Undefined when the text is not a listen address. */
export function parseListenAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  return match && port <= 65_535 ? { host: match[1] ?? match[2] ?? '', port } : undefined;
}
