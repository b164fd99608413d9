import rateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { createAuthenticator, assertNoTokenInQuery } from '../../../../src/admin/http/authenticate.ts';
import type { Principals } from '../../../../src/admin/policy/principal.ts';
import type { AdminProblem } from '../../../../src/admin/policy/problem.ts';

it.each([
  'token',
  'TOKEN',
  'access_token',
  'auth_token',
  'api_key',
  'apikey',
  'ZAPI_KEY',
  'zapi-key',
  'API-KEY',
  'key',
  'authorization',
  'bearer',
  'api%5Fkey',
  '%74oken',
])('a token in the query is refused as %s, wherever it stands', (name) => {
  for (const query of [`${name}=x`, `a=1&${name}=x`, `${name}=x&b=%zz`])
    expect(() => assertNoTokenInQuery(`/appliances/lb-1/farms?${query}`)).toThrow('A token in a URL is never accepted');
});

it.each(['/farms', '/farms?', '/farms?keyword=a', '/farms?tokens=a&note=token', '/token/key'])(
  'the path %s contains no token',
  (url) => {
    expect(() => assertNoTokenInQuery(url)).not.toThrow();
  },
);

it('invalid tokens are rate limited per network: an IPv4 address or an IPv6 /64', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  await app.register(rateLimit, { global: false });
  app.setErrorHandler((error, _, reply) => reply.send((error as AdminProblem).code));
  const nobody = { identify: () => undefined } as unknown as Principals;
  const authenticate = createAuthenticator(app, nobody, () => undefined);
  app.get('/', async (request) => {
    // The requests of `inject` lack it.
    Object.assign(request.raw, { headersDistinct: { authorization: ['Bearer a-guess'] } });
    return await authenticate(request);
  });
  const guess = async (remoteAddress: string) => (await app.inject({ url: '/', remoteAddress })).body;

  for (let host = 1; host <= 30; host += 1) expect(await guess(`2001:db8::${host}`)).toBe('unauthenticated');

  expect(await guess('2001:db8::ffff:1')).toBe('too_many_failures');
  expect(await guess('2001:db8:0:1::1'), 'another network').toBe('unauthenticated');
  expect(await guess('192.0.2.1'), 'another network').toBe('unauthenticated');
});
