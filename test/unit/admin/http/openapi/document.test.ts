import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { problemCodes } from '../../../../../src/admin/policy/problem.ts';
import type { EndpointRow } from '../../../../../src/appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../../../../src/appliance/api/table.ts';
import { createRouteMatcher } from '../../../../../src/appliance/route.ts';
import { isRecord } from '../../../../../src/lib/check.ts';
import { gatewayDocument } from '../../../../support/gateway-document.ts';
import { ownRecordings, readExchanges } from '../../../../support/recordings.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Readonly<Record<string, { schema: unknown }>> }>
  >;
}

interface Found {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

const rows = Object.entries(endpoints) as readonly (readonly [EndpointKey, EndpointRow])[];
const served = JSON.stringify(await gatewayDocument('1.2.3'));
const operations = resolvedOperations();

it('the document is valid OpenAPI 3.1 for an independent validator', async () => {
  const validator = new Validator();

  const result = await validator.validate(givenJson());

  expect(result).toMatchObject({ valid: true });
  expect(validator.version).toBe('3.1');
});

it('the document has each operation of the table exactly once, and those of the gateway', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  const own = ids.filter((id) => !Object.hasOwn(endpoints, id));

  expect(ids.filter((id) => Object.hasOwn(endpoints, id)).toSorted()).toEqual(Object.keys(endpoints).toSorted());
  expect(ids).toHaveLength(rows.length + own.length);
  expect(own).toEqual([
    ...'readOpenApiDocument whoAmI listAppliances discoverParameters readAudit readFreeze'.split(' '),
    ...'freeze unfreeze askForChange listChanges readChange approveChange'.split(' '),
    ...'denyChange cancelChange postAlerts'.split(' '),
  ]);
});

it('the document has no two paths that differ only in the names of their placeholders', () => {
  const shapes = Object.keys(givenJson().paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));

  expect(shapes).toHaveLength(new Set(shapes).size);
});

it('the document matches each described request with the row of its operation', () => {
  const matcher = createRouteMatcher(rows.map(([key, row]) => ({ key, route: row.route })));

  const strays = operations
    .filter(({ operation }) => Object.hasOwn(endpoints, operation.operationId))
    .filter(({ path, method, operation }) => {
      const filled = path.replace('/appliances/{appliance}', '').replaceAll(/\{\w+\}/g, 'x');
      return matcher.match(method.toUpperCase(), filled)?.row.key !== operation.operationId;
    });

  expect(strays).toEqual([]);
});

it('the document moves a wildcard by one segment if its verb is taken, and describes it', () => {
  const paths = operations.filter(({ operation: { operationId } }) =>
    ['readWafPath', 'removeWafSetFromFarm', 'createFarmWafPath', 'deleteFarmWafPath', 'setLdapPath'].includes(
      operationId,
    ),
  );

  expect(paths.map(({ path, method, operation }) => `${operation.operationId}: ${method} ${path}`)).toEqual([
    'removeWafSetFromFarm: delete /appliances/{appliance}/farms/{farmname}/ipds/waf/{set}',
    'createFarmWafPath: post /appliances/{appliance}/farms/{farmname}/ipds/waf/{set}',
    'deleteFarmWafPath: delete /appliances/{appliance}/farms/{farmname}/ipds/waf/{set}/{path}',
    'readWafPath: get /appliances/{appliance}/ipds/waf/{set}/{path}',
    'setLdapPath: post /appliances/{appliance}/rbac/ldap{path}',
  ]);
  const described = operations.flatMap(({ operation: { parameters = [], operationId } }) =>
    parameters.filter(({ description }) => description?.includes('rest of the path')).map(() => operationId),
  );
  expect(described.toSorted()).toEqual(
    rows
      .filter(([, { route }]) => route.includes('*}'))
      .map(([key]) => key)
      .toSorted(),
  );
});

it('the document declares each placeholder of each path', () => {
  for (const { path, operation } of operations) {
    const declared = (operation.parameters ?? []).filter((each) => each.in === 'path').map(({ name }) => name);
    const written = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

    expect(declared, operation.operationId).toEqual(written);
  }
});

describe('an operation of an appliance', () => {
  it('has the content of its row', () => {
    expect(givenOperation('readServiceSessionPath')).toMatchObject({
      tags: ['farm-sessions'],
      summary: endpoints.readServiceSessionPath.summary,
      'x-risk': 'read',
      'x-roles': ['viewer', 'operator', 'admin'],
      'x-since': '4.0.2',
    });
    expect(givenOperation('readFarmStatus')).not.toHaveProperty('x-since');
    expect(givenOperation('readFarmStatus').description).toContain('The release that brought it is not known.');
    expect(givenOperation('createFarm')).toMatchObject({ 'x-roles': ['operator', 'admin'] });
    expect(givenOperation('downloadCertificate')).toMatchObject({ 'x-roles': ['admin'] });
  });

  it('requires a confirmation for deletions, and offers a reason, a dry run, force and break glass for writes', () => {
    for (const [key, { risk, route }] of rows) {
      const headers = givenOperation(key).parameters?.filter((each) => each.in === 'header') ?? [];
      const confirmation = risk === 'destructive' ? ['X-Confirm'] : [];
      const ofWrites = [...confirmation, 'X-Reason', 'X-Dry-Run', 'X-Force', 'X-Break-Glass'];
      const expected = route.startsWith('GET ') ? [] : ofWrites;

      expect(
        headers.map(({ name }) => name),
        key,
      ).toEqual(expected);
      expect(
        headers.filter(({ required }) => required).map(({ name }) => name),
        key,
      ).toEqual(confirmation);
    }
  });

  it.each([
    ['createFarm', ['application/json'], 'application/json'],
    ['uploadActivationCertificate', ['text/plain', 'application/x-pem-file'], 'application/json'],
    ['uploadCertificate', ['application/x-pem-file', 'text/plain'], 'application/json'],
    ['uploadBackup', ['application/gzip'], 'application/json'],
    ['openSession', undefined, 'application/json'],
    ['listFarms', undefined, 'application/json'],
    ['readCertificateInfo', undefined, 'text/plain'],
    ['readActivationCertificate', undefined, 'text/plain'],
    ['downloadBackup', undefined, 'application/x-download'],
  ] as const)('accepts the body of its row, and answers as the API document says: %s', (key, types, answer) => {
    const { requestBody, responses } = givenOperation(key);

    expect(requestBody && Object.keys(requestBody.content)).toEqual(types);
    expect(Object.keys(responses[200]?.content ?? {})).toEqual([answer]);
  });

  it('mentions parameter discovery if it accepts JSON', () => {
    expect(givenOperation('actOnFarm').description).toContain('/parameters?operation=actOnFarm');
    expect(givenOperation('deleteFarm').description).not.toContain('/parameters');
  });

  it('lists the change that waits, every error of the API, the 401 as 502, and the refusals of the gateway', () => {
    const errors = ['400', '402', '403', '404', '405', '406', '409', '410', '415', '500', '502', '504', 'default'];

    for (const [key, { route, body }] of rows) {
      const { responses } = givenOperation(key);
      const created = route.startsWith('POST ') ? ['201'] : [];
      const waiting = route.startsWith('GET ') || body === 'gzip' ? [] : ['202'];

      expect(Object.keys(responses), key).toEqual(['200', ...created, ...waiting, ...errors]);
    }
    expect(Object.keys(givenOperation('deleteFarm').responses[202]?.content ?? {})).toEqual(['application/json']);
    const { responses } = givenOperation('listFarms');
    expect(responses[502]?.description).toContain('upstream_unauthorized');
    expect(Object.keys(responses[502]?.content ?? {})).toEqual(['application/problem+json']);
    expect(responses[402]?.description).toContain('activation certificate');
  });

  it('lists the refusals of each operation of the gateway itself, except for the document', () => {
    const withoutRefusals = operations.filter(({ operation }) => operation.responses['default'] === undefined);

    expect(withoutRefusals.map(({ operation }) => operation.operationId)).toEqual(['readOpenApiDocument']);
  });
});

it('the schemas are JSON Schema 2020-12 and nothing else', () => {
  const { components } = givenJson();
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false });
  ajv.addVocabulary(['components']);
  ajv.addSchema({ $id: 'https://localhost/document', components }, undefined, false, false);

  for (const name of Object.keys(components.schemas)) {
    expect(ajv.getSchema(`https://localhost/document#/components/schemas/${name}`), name).toBeTypeOf('function');
  }
});

it('the schemas match every recorded reply', () => {
  const matcher = createRouteMatcher(rows.map(([key, row]) => ({ key, ...row })));
  const replies = readExchanges(ownRecordings).flatMap(({ name, request, response }) => {
    const path = request.path.replace(/^.*?\.cgi/, '').replace(/\?.*/, '');
    const row = response.status === 200 ? matcher.match(request.method, path)?.row : undefined;
    return row?.reply && row.key !== 'readActivationCertificate' ? [{ name, key: row.key, body: response.body }] : [];
  });

  for (const [key, ofKey] of Map.groupBy(replies, (reply) => reply.key)) {
    const schema = givenOperation(key).responses[200]?.content['application/json']?.schema;
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(schema as object);

    for (const { name, body } of ofKey) expect([fits(JSON.parse(body)), fits.errors], name).toEqual([true, null]);
  }
  expect(new Set(replies.map(({ key }) => key)).size).toBeGreaterThan(8);
});

it('the schemas do not require the plan of a change in a list', () => {
  const { Change, Changes } = givenJson().components.schemas;

  const listed = Changes.properties.changes.items.required;

  expect(Change.required.filter((each: string) => !listed.includes(each))).toEqual(['plan']);
});

it('the schemas list every problem code', () => {
  expect(givenJson().components.schemas.Problem.properties.code.enum).toEqual(problemCodes);
});

/** As clients get it. */
function givenJson() {
  return JSON.parse(served);
}

function givenOperation(key: EndpointKey): Operation {
  const found = operations.find(({ operation }) => operation.operationId === key);
  if (!found) throw new Error(`the document has no ${key}`);
  return found.operation;
}

/** Every operation with its references resolved. */
function resolvedOperations(): readonly Found[] {
  const document = givenJson();
  const paths = Object.entries<Readonly<Record<string, unknown>>>(document.paths);
  return paths.flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method,
      operation: withoutRefs(operation, document, []) as Operation,
    })),
  );
}

function withoutRefs(node: unknown, document: unknown, within: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((each) => withoutRefs(each, document, within));
  if (!isRecord(node)) return node;
  const { $ref: ref } = node;
  if (typeof ref !== 'string')
    return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, withoutRefs(each, document, within)]));
  if (!ref.startsWith('#/components/') || within.includes(ref)) throw new Error(`${ref} within ${within.join(' ')}`);
  const target = ref
    .slice(2)
    .split('/')
    .reduce<unknown>((each, key) => (isRecord(each) ? each[key] : undefined), document);
  if (target === undefined) throw new Error(`${ref} leads nowhere`);
  return withoutRefs(target, document, [...within, ref]);
}
