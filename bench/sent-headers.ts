import type { IncomingHttpHeaders } from 'node:http';

/** What the server said, without what node:http adds to every answer. */
export function sentHeaders({ headers }: { readonly headers: IncomingHttpHeaders }): IncomingHttpHeaders {
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...sent } = headers;
  return sent;
}
