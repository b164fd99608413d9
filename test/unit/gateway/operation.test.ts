import { describe, expect, it } from 'vitest';
import { createOperations } from '../../../src/gateway/operation.ts';

const operations = createOperations();

function refusalOf(method: string, path: string): unknown {
  try {
    return operations.find(method, path).operation.key;
  } catch (error) {
    return error;
  }
}

describe('finding an operation', () => {
  it.each([
    ['GET', '/farms/shop/status', 'readFarmStatus', '/farms/shop/status'],
    ['GET', '/certificates/%61ctivation', 'readActivationCertificate', '/certificates/activation'],
    ['GET', '/interfaces/virtual/eth0%3Aweb', 'readVirtualInterface', '/interfaces/virtual/eth0:web'],
    ['DELETE', '/ipds/waf/files/a.conf', 'deleteWafFile', '/ipds/waf/files/a.conf'],
    ['GET', '/routing/tables/a/b/c', 'readRoutingPath', '/routing/tables/a/b/c'],
  ])('takes %s %s for %s and sends it as %s', (method, path, key, sent) => {
    const call = operations.find(method, path);

    expect(call.operation.key).toBe(key);
    expect(call.path).toBe(sent);
  });

  const spellings = {
    dots: ['..', '.', '%2e%2e', '%2E%2E', '.%2e', '%2e.', '%2e', '..%2f..', '..%5c..', '..%00', '..%c0%af'],
    slashes: ['a%2fb', 'a%2Fb', '%2f', 'a%5cb', 'a%5Cb', 'a\\b', '\\'],
    twice: ['%252e%252e', '%252e', 'a%252fb', 'a%252Fb', 'a%255cb', 'a%2500b', '%25252e%25252e'],
    control: ['a%00b', '%00', 'a%0ab', 'a%0db', 'a%0d%0ab', 'a%09b', 'a%1fb', 'a%7fb', 'shop%0a', 'shop%0d%0aX: y'],
    undecodable: ['%', 'a%', '%2', '%zz', '%ff', '%c3', '%c3%28', '%c0%ae%c0%ae', '%e0%80%ae', '%ed%a0%80'],
    ends: ['a#b', '#', ''],
  };
  const places = ['/farms/X/status', '/farms/X', '/X/farms', '/farms/shop/X', '/farms/shop/services/X/backends'];

  it.each(Object.entries(spellings))(
    'refuses %s at every place, which somebody on the way could read in another way',
    (_, words) => {
      const paths = places.flatMap((place) => words.map((word) => place.replace('X', () => word)));

      for (const path of paths)
        expect(refusalOf('GET', path), path).toMatchObject({ code: 'unsafe_path', status: 400 });
    },
  );

  it.each(['//farms', '/routing/a/../b', '/routing/a//b', 'farms', ''])('refuses %j in the same way', (path) => {
    expect(refusalOf('GET', path)).toMatchObject({ code: 'unsafe_path', status: 400 });
  });

  it('knows no path that the table lacks', () => {
    expect(refusalOf('GET', '/nothing')).toMatchObject({ code: 'unknown_path', status: 404 });
  });

  it.each(['POST', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'get'])('says what a path takes instead of %s', (method) => {
    expect(refusalOf(method, '/farms/shop/status')).toMatchObject({
      code: 'method_not_allowed',
      headers: { allow: 'GET' },
    });
  });

  it('refuses a path that is longer than any name', () => {
    expect(refusalOf('GET', `/farms/${'a'.repeat(3_000)}`)).toMatchObject({ code: 'path_too_long', status: 414 });
  });

  it.each(['actOnFarm', 'PUT /farms/{farmname}/actions'])('knows an operation as %s', (name) => {
    expect(operations.named(name)?.key).toBe('actOnFarm');
  });
});
