import type { FastifyRequest } from 'fastify';
import { AdminProblem } from '../admin/problem.ts';
import { isOneOf } from '../lib/check.ts';

/** Another web page may make a browser send requests, and would profit from a token that the browser remembers. */
export function refuseStrangers({ headers }: FastifyRequest): void {
  if (!isFromElsewhere(headers)) return;
  throw new AdminProblem('cross_origin', {
    detail: 'The request comes from a web page of another origin; nothing was sent.',
    remedy: 'Use the page under /docs of this listener, or a client that is no web page.',
  });
}

/** True for what a web page of another origin makes a browser send. */
function isFromElsewhere(headers: FastifyRequest['headers']): boolean {
  const { origin, host } = headers;
  if (origin !== undefined && hostOf(origin) !== host) return true;
  // Images and the like come without an origin.
  return isOneOf(['cross-site', 'same-site'], headers['sec-fetch-site']);
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
