import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { assertSameOrigin } from '../../../../src/admin/http/request-checks.ts';

const host = 'gateway.test:9446';

it.each([
  [{ host, 'sec-fetch-site': 'cross-site' }, true],
  [{ host, 'sec-fetch-site': 'same-site' }, true],
  [{ host, 'sec-fetch-site': 'same-origin' }, false],
  [{ host, 'sec-fetch-site': 'none' }, false],
  [{ host, origin: 'https://other.test' }, true],
  [{ host, origin: 'https://gateway.test' }, true],
  [{ host, origin: 'null' }, true],
  [{ host, origin: `https://${host}` }, false],
  [{ host }, false],
])('a request from a web page with the headers %j is refused: %s', (headers, isRefused) => {
  const check = () => assertSameOrigin({ headers } as unknown as FastifyRequest);

  if (isRefused) expect(check).toThrow('another origin');
  else expect(check).not.toThrow();
});
