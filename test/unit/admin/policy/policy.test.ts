import { describe, expect, it } from 'vitest';
import { type EndpointKey, endpoints } from '../../../../src/appliance/api/table.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import {
  may,
  mayUseGatewayOperation,
  maySeeRecord,
  gatewayOperations,
  riskOf,
  roleMay,
} from '../../../../src/admin/policy/policy.ts';
import { roles } from '../../../../src/admin/policy/principal.ts';
import { givenPrincipal } from '../../../support/given-principal.ts';

const risks = ['read', 'secret', 'reversible', 'disruptive', 'destructive'] as const;
const yes = { allowed: true };
const no = (because: string) => ({ allowed: false, because });

describe('the role of a token', () => {
  const allowed = {
    viewer: ['read'],
    operator: ['read', 'reversible'],
    admin: ['read', 'secret', 'reversible', 'disruptive', 'destructive'],
    alertmanager: [],
  } as const;

  it.each(roles.flatMap((role) => risks.map((risk) => [role, risk] as const)))(
    'decides correctly for %s and the risk %s',
    (role, risk) => {
      const isAllowed = (allowed[role] as readonly string[]).includes(risk);
      const principal = givenPrincipal({ role });

      expect(roleMay(role, risk)).toBe(isAllowed);
      expect(may(principal, 'listFarms', { risk })).toEqual(isAllowed ? yes : no('role_too_low'));
    },
  );
});

describe('the lists of a token', () => {
  it.each([
    [{}, yes],
    [{ allow: ['listFarms'] }, yes],
    [{ allow: ['listFarms', 'readFarm'] }, yes],
    [{ allow: ['readFarm'] }, no('operation_denied')],
    [{ allow: [] }, no('operation_denied')],
    [{ deny: ['listFarms'] }, no('operation_denied')],
    [{ deny: ['readFarm'] }, yes],
    [{ allow: ['listFarms'], deny: ['listFarms'] }, no('operation_denied')],
    [{ allow: ['listFarms'], deny: ['readFarm'] }, yes],
  ] as const)('answer %j for listFarms with %j', (lists, decision) => {
    expect(may(givenPrincipal(lists), 'listFarms', { risk: 'read' })).toEqual(decision);
  });

  it('add nothing to a role, and a refusal names the role first', () => {
    const viewer = givenPrincipal({ role: 'viewer', allow: ['deleteFarm'], deny: ['deleteFarm'] });

    expect(may(viewer, 'deleteFarm', endpoints.deleteFarm)).toEqual(no('role_too_low'));
  });
});

describe('the operations of the gateway itself', () => {
  const keys = Object.keys(gatewayOperations) as (keyof typeof gatewayOperations)[];

  it('have no key or route of an appliance operation', () => {
    const routes = Object.values(endpoints).map(({ route }) => route as string);

    expect(keys.filter((key) => key in endpoints)).toEqual([]);
    expect(Object.values(gatewayOperations).filter((route) => routes.includes(route))).toEqual([]);
  });

  it.each(keys)('include %s only for the role admin, within the lists of its token', (key) => {
    expect(mayUseGatewayOperation(givenPrincipal(), key)).toEqual(yes);
    expect(mayUseGatewayOperation(givenPrincipal({ allow: [key] }), key)).toEqual(yes);
    for (const role of ['viewer', 'operator'] as const)
      expect(mayUseGatewayOperation(givenPrincipal({ role, allow: [key] }), key)).toEqual(no('role_too_low'));
    for (const lists of [{ allow: [] }, { allow: ['listFarms'] }, { deny: [key] }, { allow: [key], deny: [key] }])
      expect(mayUseGatewayOperation(givenPrincipal(lists), key)).toEqual(no('operation_denied'));
  });

  it.each([
    [['*'], yes],
    [['**'], yes],
    [['lb-a', '*'], yes],
    [['lb-*'], no('appliance_denied')],
    [['lb-a'], no('appliance_denied')],
    [['*-a', 'lb-*'], no('appliance_denied')],
    [[], no('appliance_denied')],
  ])('permit a freeze or an unfreeze to a token of %j: %j', (appliances, decision) => {
    const principal = givenPrincipal({ appliances });

    expect(mayUseGatewayOperation(principal, 'freeze')).toEqual(decision);
    expect(mayUseGatewayOperation(principal, 'unfreeze')).toEqual(decision);
    expect(mayUseGatewayOperation(principal, 'readAudit')).toEqual(yes);
  });
});

it.each([
  [{}, {}, true],
  [{}, { appliance: 'lb-b', operation: 'deleteFarm' }, true],
  [{ appliances: ['lb-a'] }, {}, false],
  [{ appliances: ['lb-a'] }, { appliance: 'lb-a' }, true],
  [{ appliances: ['lb-a'] }, { appliance: 'lb-b' }, false],
  [{ appliances: ['lb-a'] }, { operation: 'listFarms' }, false],
  [{ allow: ['listFarms'] }, { operation: 'listFarms' }, true],
  [{ allow: ['listFarms'] }, { operation: 'deleteFarm' }, false],
  [{ allow: ['listFarms'] }, {}, true],
  [{ deny: ['deleteFarm'] }, { appliance: 'lb-a', operation: 'deleteFarm' }, false],
  [{ deny: ['deleteFarm'] }, { appliance: 'lb-a', operation: 'listFarms' }, true],
  [{ appliances: ['lb-a'], deny: ['deleteFarm'] }, { appliance: 'lb-a', operation: 'deleteFarm' }, false],
  [{ appliances: ['lb-a'], deny: ['deleteFarm'] }, { appliance: 'lb-b', operation: 'listFarms' }, false],
])('for a token with %j, the audit record %j is visible: %j', (limits, record, isVisible) => {
  expect(maySeeRecord(givenPrincipal(limits), record)).toBe(isVisible);
});

describe('the risk of a call', () => {
  const { find } = createOperations();

  it.each([
    ['GET /certificates/shop.pem/info', 'read'],
    ['GET /certificates/shop.key/info', 'secret'],
    ['GET /certificates/SHOP.KEY/info', 'secret'],
    ['GET /certificates/shop.Key/info', 'secret'],
    ['GET /certificates/shop.k%65y/info', 'secret'],
    ['GET /certificates/shop.key.pem/info', 'read'],
    ['GET /certificates/monkey/info', 'read'],
    ['DELETE /certificates/shop.key', 'destructive'],
  ])('is for %s: %s', (request, risk) => {
    const [method = '', path = ''] = request.split(' ');

    expect(riskOf(find(method, path))).toBe(risk);
  });

  it('is that of its row for every other operation', () => {
    const operations = createOperations();
    for (const key of Object.keys(endpoints) as EndpointKey[]) {
      const operation = operations.get(key);
      expect(operation && riskOf({ operation, params: {}, path: '/' }), key).toBe(endpoints[key].risk);
    }
  });
});
