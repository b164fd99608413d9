import { readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EndpointRow, Risk, Route } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { createRouteMatcher, fillTemplate, parseRoute } from '../../../src/appliance/route.ts';
import { apiDocumentOperations } from '../../support/api-document.ts';

const rows: readonly EndpointRow[] = Object.values(endpoints);
const table = createRouteMatcher(rows);

const areaFolder = new URL('../../../src/appliance/api/', import.meta.url);

describe('the table of endpoints', () => {
  it('has no two rows with the same verb and path', () => {
    expect(new Set(rows.map((row) => shapeOf(row.route))).size).toBe(rows.length);
  });

  it('has every row of every file, and no key in two areas', async () => {
    const files = readdirSync(areaFolder).filter((file) => file !== 'row.ts' && file !== 'table.ts');
    const modules = await Promise.all(files.map((file) => import(new URL(file, areaFolder).href)));
    const keys = modules.flatMap((module: Record<string, object>) =>
      Object.entries(module).flatMap(([name, rows]) => (name.endsWith('Endpoints') ? Object.keys(rows) : [])),
    );

    expect(keys.toSorted()).toEqual(Object.keys(endpoints).toSorted());
  });
});

it.each(apiDocumentOperations)('the table has a row for %s, which is in the API document', (operation) => {
  expect(rows.map((row) => shapeOf(row.route))).toContain(shapeOf(operation));
});

describe('the risk of a row', () => {
  const routesOf = (...risks: Risk[]) => rows.filter((row) => risks.includes(row.risk)).map((row) => row.route);

  it('is read or secret for every GET and for nothing else', () => {
    const gets = rows.filter((row) => row.route.startsWith('GET ')).map((row) => row.route);

    expect(routesOf('read', 'secret')).toEqual(gets);
  });

  it('is destructive for every DELETE except the session, and for the factory reset', () => {
    const deletes = rows.filter((row) => row.route.startsWith('DELETE ')).map((row) => row.route);
    const expected = [...deletes.filter((route) => route !== 'DELETE /session'), 'POST /system/factory'];

    expect(routesOf('destructive').toSorted()).toEqual(expected.toSorted());
  });

  it('is secret for exactly the reads that can show keys, passwords, users, logs or the whole configuration', () => {
    expect(routesOf('secret').toSorted()).toEqual([
      'GET /aws/credentials',
      'GET /azure/credentials',
      'GET /certificates/activation',
      'GET /certificates/{file}',
      'GET /ids',
      'GET /rbac/groups',
      'GET /rbac/groups/{group}',
      'GET /rbac/ldap',
      'GET /rbac/ldap{path*}',
      'GET /rbac/menus',
      'GET /rbac/roles',
      'GET /rbac/roles/{role}',
      'GET /rbac/services',
      'GET /rbac/users',
      'GET /rbac/users/{user}',
      'GET /system/backup/{name}',
      'GET /system/https/certificate',
      'GET /system/logs',
      'GET /system/logs/{file}',
      'GET /system/logs/{file}/lines/{count}',
      'GET /system/notifications/methods/email',
      'GET /system/proxy',
      'GET /system/rsyslog',
      'GET /system/snmp',
      'GET /system/ssh',
      'GET /system/support',
      'GET /system/supportsave',
      'GET /system/supportsave/all',
      'GET /system/users',
      'GET /vpns/modules/remote_access',
      'GET /vpns/modules/site_to_site',
      'GET /vpns/modules/tunnel',
      'GET /vpns/modules/zrs',
      'GET /vpns/modules/zss',
      'GET /vpns/modules/ztn',
      'GET /vpns/{path*}',
      'GET /vpns/{vpn}',
    ]);
  });

  it.each([
    'updateCallingUser',
    'createRbacUser',
    'updateRbacUser',
    'updateRbacRole',
    'addRbacGroupUser',
    'addVpnUser',
    'setAwsCredentials',
    'setEmailSettings',
  ] as const)('is disruptive for %s, which grants rights or replaces a credential', (key) => {
    expect(endpoints[key].risk).toBe('disruptive');
  });

  it('is at least that of every matching call for a wildcard row', () => {
    const order: readonly Risk[] = ['read', 'secret', 'reversible', 'disruptive', 'destructive'];
    const wildcards = rows.filter((row) => row.route.includes('*}'));

    const understated = wildcards.flatMap((wildcard) => {
      const matcher = createRouteMatcher([wildcard]);
      return rows
        .filter((row) => matcher.match(...requestOf(row)) && order.indexOf(row.risk) > order.indexOf(wildcard.risk))
        .map((row) => `${wildcard.route} is ${wildcard.risk}, ${row.route} is ${row.risk}`);
    });

    expect(wildcards).toHaveLength(29);
    expect(understated).toEqual([]);
  });
});

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

/** A route without the names of its placeholders, so that spellings of one path compare equal. */
function shapeOf(route: string): string {
  return route.replaceAll(/\{\w+\*\}/g, '*').replaceAll(/\{\w+\}|<\w+>/g, '{}');
}

function placeholdersOf(row: EndpointRow): RegExpExecArray[] {
  return [...row.route.matchAll(/\{(\w+)(\*?)\}/g)];
}

function paramsOf(row: EndpointRow, value: string): Record<string, string> {
  return Object.fromEntries(placeholdersOf(row).map(([, name]) => [name ?? '', value]));
}

/**
 * Returns a request that only this row should match: no other route is as deep as the text of a
 * wildcard here.
 */
function requestOf(row: EndpointRow): [method: string, path: string] {
  const { method, template } = parseRoute(row.route);
  const params = placeholdersOf(row).map(([, name, star]) => [name ?? '', star ? 'x/x/x/x/x/x/x' : 'x']);
  return [method, fillTemplate(template, Object.fromEntries(params)) ?? ''];
}
