import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EndpointRow, Route } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { createRouteMatcher, fillTemplate, parseRoute } from '../../../src/appliance/route.ts';
import { placeholdersOf, requestOf } from './given-request.ts';

const rows: readonly EndpointRow[] = Object.values(endpoints);
const table = createRouteMatcher(rows);

describe('finding the row of a request', () => {
  it('finds each row again by its own filled template', () => {
    const found = rows.map((row) => table.match(...requestOf(row))?.row.route);

    expect(found).toEqual(rows.map((row) => row.route));
  });

  it.each<[request: Route, route: Route]>([
    ['GET /vpns/modules/summary', 'GET /vpns/modules/summary'],
    ['GET /vpns/modules', 'GET /vpns/{vpn}'],
    ['GET /vpns/office/users', 'GET /vpns/{path*}'],
    ['GET /certificates/activation', 'GET /certificates/activation'],
    ['GET /certificates/activation/info', 'GET /certificates/activation/info'],
    ['GET /certificates/shop.pem/info', 'GET /certificates/{file}/info'],
    ['POST /certificates/pem', 'POST /certificates/pem'],
    ['DELETE /certificates/activation', 'DELETE /certificates/activation'],
    ['GET /certificates/letsencrypt/config', 'GET /certificates/letsencrypt/config'],
    ['GET /ipds/waf/files', 'GET /ipds/waf/files'],
    ['GET /ipds/waf/options', 'GET /ipds/waf/options'],
    ['GET /ipds/waf/core', 'GET /ipds/waf/{set}'],
    ['GET /ipds/waf/core/rules', 'GET /ipds/waf/{path*}'],
    ['POST /ipds/waf/core/actions', 'POST /ipds/waf/{set}/actions'],
    ['GET /ipds/dos/rules', 'GET /ipds/dos/rules'],
    ['GET /ipds/rbl/domains', 'GET /ipds/rbl/domains'],
    ['GET /farms/modules/summary', 'GET /farms/modules/summary'],
    ['GET /farms/shop/summary', 'GET /farms/{farmname}/summary'],
    ['GET /stats/farms/total', 'GET /stats/farms/total'],
    ['GET /routing/rules', 'GET /routing/rules'],
    ['GET /routing/rules/7', 'GET /routing/{path*}'],
    ['POST /rbac/ldap/actions', 'POST /rbac/ldap/actions'],
    ['GET /rbac/ldap/actions', 'GET /rbac/ldap{path*}'],
    ['GET /monitoring/fg/check-web', 'GET /monitoring/fg/{name}'],
    ['GET /monitoring/fgs/check-web', 'GET /monitoring/fg{suffix*}/{farmguardian}'],
    ['GET /graphs/system/cpu/custom/start/01-01-2026-00:00/end/01-02-2026-00:00', endpoints.readCustomCpuGraph.route],
  ])('matches %s with %s', (request, route) => {
    const { method, template } = parseRoute(request);

    expect(table.match(method, template)?.row.route).toBe(route);
  });

  it.each([
    ['POST', '/certificates/%61ctivation', 'POST /certificates/activation'],
    ['PUT', '/farms/shop/backends/0%2Fmaintenance', 'PUT /farms/{farmname}/backends/{backend}/maintenance'],
    ['POST', '/vpns/office%2factions', 'POST /vpns/{vpn}/actions'],
  ])('decodes %s %s as the appliance does', (method, path, route) => {
    expect(table.match(method, path)?.row.route).toBe(route);
  });

  it.each([
    ['GET', '/nothing'],
    ['GET', '/farms/'],
    ['GET', '/farms//shop'],
    ['GET', '/vpns/'],
    ['PATCH', '/farms/shop'],
    ['GET', '/farms/%E0%A4%A'],
    ['POST', '/system/factory%0a'],
  ])('finds no row for %s %s', (method, path) => {
    expect(table.match(method, path)).toBeUndefined();
  });
});

describe('filling the template of a row', () => {
  const segment = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 12 })
    .filter((text) => text !== '.' && text !== '..' && !/[\u0000-\u001f\u007f/]/.test(text));
  const rest = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
  const withParams = rows.filter((row) => row.route.includes('{'));

  it('is reversed by matching, for all safe names', () => {
    const filled = fc.constantFrom(...withParams).chain((row) => {
      const params = placeholdersOf(row).map(([, name, star]) => [name ?? '', star ? rest : segment] as const);
      return fc.record({ row: fc.constant(row), params: fc.record(Object.fromEntries(params)) });
    });

    fc.assert(
      fc.property(filled, ({ row, params }) => {
        const { method, template } = parseRoute(row.route);
        const path = fillTemplate(template, params);

        expect(path).toMatch(/^[\u0021-\u007e]+$/);
        expect(createRouteMatcher([row]).match(method, path ?? '')).toEqual({ row, params });
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', '.', '..', 'webshop\n', 'web\u0000shop', '\u007f', '../../etc/passwd', '0/maintenance'])(
    'refuses %j as a name in every row',
    (value) => {
      const single = withParams.filter((row) => !row.route.includes('*}'));

      expect(single.map((row) => fillTemplate(row.route, paramsOf(row, value)))).toEqual(single.map(() => undefined));
    },
  );

  it.each(['', '.', '..', 'a/../users', 'a//b', 'a/', './a', 'a/b\n'])('refuses %j as the rest of a path', (value) => {
    expect(fillTemplate('/vpns/{path*}', { path: value })).toBeUndefined();
  });

  it('refuses a missing name', () => {
    expect(fillTemplate('/farms/{farmname}', {})).toBeUndefined();
  });

  it('keeps the colon of an interface name, and encodes other characters that a path cannot contain', () => {
    expect(fillTemplate('/interfaces/virtual/{name}', { name: 'eth0:web' })).toBe('/interfaces/virtual/eth0:web');
    expect(fillTemplate('/certificates/{file}', { file: 'a b?#%ü.pem' })).toBe(
      '/certificates/a%20b%3F%23%25%C3%BC.pem',
    );
  });

  it('permits a leading slash in a wildcard that follows a word', () => {
    expect(fillTemplate('/rbac/ldap{path*}', { path: '/actions' })).toBe('/rbac/ldap/actions');
    expect(fillTemplate('/rbac/ldap{path*}', { path: '/../users' })).toBeUndefined();
  });
});

function paramsOf(row: EndpointRow, value: string): Record<string, string> {
  return Object.fromEntries(placeholdersOf(row).map(([, name]) => [name ?? '', value]));
}
