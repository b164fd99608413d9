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

  it.each([
    '/farms/..',
    '/farms/./status',
    '/farms/%2e%2e/status',
    '/farms/.%2E/status',
    '/farms/%252e%252e/status',
    '/farms/a%2fb',
    '/farms/a%2Fstatus',
    '/farms/a%5cb',
    '/farms/a\\b',
    '/farms/shop%00',
    '/farms/webshop%0a',
    '/farms/shop%0d%0aX: y',
    '/farms/shop%7f',
    '/farms/',
    '/farms//status',
    '//farms',
    '/farms/shop/status/',
    '/farms/%',
    '/farms/%ff',
    '/routing/a/../b',
    '/routing/a//b',
    'farms',
    '',
  ])('refuses %s, which somebody on the way could read in another way', (path) => {
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
