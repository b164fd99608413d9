import { describe, expect, it } from 'vitest';
import { confirmationOf, isConfirmed } from '../../../../src/admin/calls/approval.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import type { EndpointRow } from '../../../../src/appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../../../src/appliance/api/table.ts';

const operations = createOperations();
const confirmation = (method: string, path: string) => confirmationOf(operations.find(method, path), 'lb-paris');

it('every destructive operation must be confirmed, and nothing else', () => {
  const rows = Object.entries(endpoints) as readonly [EndpointKey, EndpointRow][];
  const required = rows.filter(([key]) => {
    const operation = operations.get(key)!;
    const names = [...operation.template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => [name, 'x']);
    return confirmationOf(operations.toCall(operation.operationId, Object.fromEntries(names))!, 'lb-paris').length > 0;
  });

  expect(required.map(([key]) => key)).toEqual(
    rows.filter(([, { risk }]) => risk === 'destructive').map(([key]) => key),
  );
  expect(required.length).toBeGreaterThan(60);
});

it.each([
  ['DELETE', '/farms/shop', ['shop']],
  ['DELETE', '/farms/shop/services/front/backends/0', ['0']],
  ['DELETE', '/interfaces/virtual/eth0:web', ['eth0:web']],
  ['DELETE', '/certificates/a%20b%C3%BC.pem', ['a bü.pem']],
  ['DELETE', '/vpns/office/users/anna', ['anna']],
  ['DELETE', '/certificates/activation', ['lb-paris', 'activation']],
  ['DELETE', '/interfaces/gateway/ipv4', ['lb-paris', 'ipv4']],
  ['POST', '/system/factory', ['lb-paris', 'factory']],
])('the operation %s %s must be confirmed by one of the names %j', (method, path, expected) => {
  expect(confirmation(method, path)).toEqual(expected);
});

describe('a confirmation', () => {
  it.each(['a bü.pem', 'a%20b%C3%BC.pem', 'a%20bü.pem'])('is accepted for a bü.pem when it says %s', (given) => {
    expect(isConfirmed(given, ['a bü.pem'])).toBe(true);
  });

  it.each([undefined, '', 'a', 'A BÜ.PEM', 'a%2520b%25C3%25BC.pem', ' a bü.pem', 'a bü.pem,b', '%', 'true', '*'])(
    'is refused for a bü.pem when it says %j',
    (given) => {
      expect(isConfirmed(given, ['a bü.pem'])).toBe(false);
    },
  );

  it('may name any expected object, and nothing when none is expected', () => {
    expect(isConfirmed('activation', ['lb-paris', 'activation'])).toBe(true);
    expect(isConfirmed('shop', [])).toBe(false);
  });

  it('may contain a percent sign that encodes nothing', () => {
    expect(isConfirmed('100%', ['100%'])).toBe(true);
  });
});
