import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpointRows } from '../../../../src/appliance/api/table.ts';
import { parseRoute } from '../../../../src/appliance/route.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { hostileName } from '../../../fuzz/hostile-names.ts';

const operations = createOperations();

function refusalOf(method: string, path: string): unknown {
  try {
    return operations.find(method, path).operation.operationId;
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
  ])('resolves %s %s to %s and sends it as %s', (method, path, key, sent) => {
    const call = operations.find(method, path);

    expect(call.operation.operationId).toBe(key);
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
    'refuses %s at every place, because a proxy could parse it differently',
    (_, words) => {
      const paths = places.flatMap((place) => words.map((word) => place.replace('X', () => word)));

      for (const path of paths)
        expect(refusalOf('GET', path), path).toMatchObject({ code: 'unsafe_path', status: 400 });
    },
  );

  it.each(['//farms', '/routing/a/../b', '/routing/a//b', 'farms', ''])('refuses %j for the same reason', (path) => {
    expect(refusalOf('GET', path)).toMatchObject({ code: 'unsafe_path', status: 400 });
  });

  it('finds no path that is missing in the table', () => {
    expect(refusalOf('GET', '/nothing')).toMatchObject({ code: 'unknown_path', status: 404 });
  });

  it.each(['POST', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'get'])(
    'says which verbs a path accepts instead of %s',
    (method) => {
      expect(refusalOf(method, '/farms/shop/status')).toMatchObject({
        code: 'method_not_allowed',
        headers: { allow: 'GET' },
      });
    },
  );

  it('refuses a path that is longer than any name', () => {
    expect(refusalOf('GET', `/farms/${'a'.repeat(3_000)}`)).toMatchObject({ code: 'path_too_long', status: 414 });
  });

  it.each(['actOnFarm', 'PUT /farms/{farmname}/actions'])('finds an operation by %s', (name) => {
    expect(operations.get(name)?.operationId).toBe('actOnFarm');
  });

  it('sends exactly what it got, or refuses it, for any names', () => {
    const route = fc.constantFrom(...endpointRows.map(([, row]) => parseRoute(row.route)));
    const names = fc.array(hostileName, { minLength: 8, maxLength: 8 });
    const spelling = fc.constantFrom(
      (name: string) => name,
      (name: string) => encodeURI(name.toWellFormed()),
      (name: string) => encodeURIComponent(name.toWellFormed()),
    );

    fc.assert(
      fc.property(route, names, spelling, ({ method, template }, values, spelled) => {
        const left = [...values];
        const sent = template.replaceAll(/\{[^}*]+\*?\}/g, () => spelled(left.shift() ?? ''));
        const found = refusalOf(method, sent);
        if (found instanceof AdminProblem) return;

        const { operation, params, path } = operations.find(method, sent);
        expect(Object.values(params)).toEqual(valuesIn(path, operation.template));
        // Decoded once, both say the same; and nobody on the way finds something else to decode, or
        // to leave out.
        expect(decodeURIComponent(path)).toBe(decodeURIComponent(sent));
        expect(decodeURIComponent(path)).not.toMatch(/%[0-9a-f]{2}|\\|\/\/|\/\.{1,2}(\/|$)|[\u0000-\u001f\u007f]/i);
      }),
      { numRuns: 3_000 },
    );
  });
});

/**
 * The names that an appliance finds in a path which it takes for a call of this template: it
 * decodes once, and then goes from slash to slash. Throws where the path is of another template, or
 * is not read alike by everybody on the way.
 */
function valuesIn(path: string, template: string): readonly string[] {
  const kept = new URL(path, 'https://appliance.example');
  if (kept.pathname !== path || kept.search !== '' || kept.hash !== '')
    throw new Error(`a URL makes ${kept.pathname}${kept.search}${kept.hash} of ${path}`);
  const source = template.replaceAll(/\{[^}*]+\*\}/g, '(.+)').replaceAll(/\{[^}*]+\}/g, '([^/]+)');
  const match = new RegExp(`^${source}$`, 's').exec(decodeURIComponent(path));
  if (!match) throw new Error(`${path} is not ${template}`);
  return match.slice(1);
}
