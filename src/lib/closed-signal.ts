import type { ServerResponse } from 'node:http';

/** Returns a signal that aborts when a response is over: its reader has all of it, or has left. */
export function closedSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return closed.signal;
}
