import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { EndpointRow, Risk } from '../../../../src/appliance/api/row.ts';
import { endpoints } from '../../../../src/appliance/api/table.ts';
import { createRouteMatcher } from '../../../../src/appliance/route.ts';
import { apiDocumentOperations } from '../../../support/api-document.ts';
import { requestOf } from '../given-request.ts';

const rows: readonly EndpointRow[] = Object.values(endpoints);

const areaFolder = new URL('../../../../src/appliance/api/', import.meta.url);

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

/** A route without the names of its placeholders, so that spellings of one path compare equal. */
function shapeOf(route: string): string {
  return route.replaceAll(/\{\w+\*\}/g, '*').replaceAll(/\{\w+\}|<\w+>/g, '{}');
}
