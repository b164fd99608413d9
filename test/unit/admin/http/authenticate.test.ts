import { expect, it } from 'vitest';
import { rejectTokenInQuery } from '../../../../src/admin/http/authenticate.ts';

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
])('a token is not accepted in the query as %s, wherever it stands', (name) => {
  for (const query of [`${name}=x`, `a=1&${name}=x`, `${name}=x&b=%zz`])
    expect(() => rejectTokenInQuery(`/appliances/lb-1/farms?${query}`)).toThrow('A token in a URL is never accepted');
});

it.each(['/farms', '/farms?', '/farms?keyword=a', '/farms?tokens=a&note=token', '/token/key'])('%s has none', (url) => {
  expect(() => rejectTokenInQuery(url)).not.toThrow();
});
