import type { EndpointRow } from '../../../appliance/api/row.ts';
import { type EndpointKey, endpointRows } from '../../../appliance/api/table.ts';
import { parseRoute } from '../../../appliance/route.ts';
import { bodyTypes } from '../../policy/operation.ts';
import { roleMay } from '../../policy/policy.ts';
import { roles } from '../../policy/principal.ts';
import { answersOf, type JsonObject, schemaRef } from './responses.ts';

interface PathParameter {
  readonly name: string;
  /** True if it matches the rest of the path, which OpenAPI cannot express. */
  readonly rest: boolean;
}

/** A row and its path in the document. */
interface Placement {
  readonly operationId: EndpointKey;
  readonly row: EndpointRow;
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** The path of the API as in the table. */
  readonly template: string;
  /** The path of the document, below `/appliances/{appliance}`. */
  readonly path: string;
  readonly parameters: readonly PathParameter[];
}

const verbs = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

/**
 * Gives every row of the table a separate path, in the order of the table. The standard forbids two
 * paths that differ only in the names of their placeholders: such rows share the path of the first
 * one. If its verb is in use, as `GET /ipds/waf/{set}` for `GET /ipds/waf/{path*}`, a wildcard
 * moves by one segment, to `/ipds/waf/{set}/{path}`.
 */
export function placeRows(): readonly Placement[] {
  const paths = new Map<string, string>();
  const taken = new Set<string>();

  function place(method: string, wanted: string): string {
    const shape = wanted.replaceAll(/\{\w+\}/g, '{}');
    const path = paths.get(shape) ?? wanted;
    if (taken.has(`${method} ${shape}`)) return place(method, `${path}/{path}`);
    paths.set(shape, path);
    taken.add(`${method} ${shape}`);
    return path;
  }

  const rows = endpointRows;
  const placements = new Map<EndpointKey, Placement>();
  // Rows without a wildcard first, so that wildcards get the paths that are left.
  for (const [operationId, row] of rows.toSorted((a, b) => Number(isWildcard(a[1])) - Number(isWildcard(b[1])))) {
    const { method, template } = parseRoute(row.route);
    const path = place(method, template.replaceAll('*}', '}'));
    placements.set(operationId, {
      operationId,
      row,
      method: verbs[method],
      template,
      path,
      parameters: parametersOf(template, path),
    });
  }
  return rows.flatMap(([key]) => placements.get(key) ?? []);
}

function isWildcard({ route }: EndpointRow): boolean {
  return route.includes('*}');
}

function parametersOf(template: string, path: string): readonly PathParameter[] {
  const stars = [...template.matchAll(/\{\w+(\*?)\}/g)].map(([, star]) => star === '*');
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return names.map((name, index) => ({
    name,
    // One name more than the template has: the wildcard has moved on to it.
    rest: names.length > stars.length ? index === names.length - 1 : stars[index] === true,
  }));
}

export function operationOf({ operationId, row, method, template, parameters }: Placement): JsonObject {
  const { area, since, risk, summary } = row;
  const allowed = roles.filter((role) => roleMay(role, risk));
  return {
    operationId,
    tags: [area],
    summary,
    description: [
      `Risk: ${risk}. For ${allowed.join(', ')}. ${since ? `Since API ${since}` : 'The release that brought it is not known'}.`,
      ...(row.readSideEffect
        ? [
            `It acts${row.readSideEffect.on === 'l4xnat' ? ' on L4 farms' : ''}: it ${row.readSideEffect.does}, when ${row.readSideEffect.when}. There it is also ${row.readSideEffect.risk}.`,
          ]
        : []),
      ...(row.writeSideEffect
        ? [
            `On an HTTP farm of ${row.writeSideEffect.with} it also ${row.writeSideEffect.does}, when ${row.writeSideEffect.when}.`,
          ]
        : []),
      ...(row.body === 'json'
        ? [`Its parameters: \`GET /appliances/{appliance}/parameters?operation=${operationId}\`.`]
        : []),
    ].join('\n\n'),
    'x-risk': risk,
    'x-roles': allowed,
    ...(since ? { 'x-since': since } : {}),
    parameters: [
      parameterRef('Appliance'),
      ...parameters.map((parameter) => pathParameter(parameter, template)),
      ...(method === 'get' ? [] : headersOf(row).map(parameterRef)),
    ],
    ...(row.body === 'none' ? {} : { requestBody: { required: true, content: contentOf(row.body) } }),
    responses: answersOf(operationId, row),
  };
}

const text = { schema: { type: 'string' } };
const flag = { schema: { type: 'string', enum: ['true'] } };

function contentOf(kind: keyof typeof bodyTypes): JsonObject {
  const shapes = { json: { schema: schemaRef('Settings') }, gzip: { schema: { type: 'string', format: 'binary' } } };
  return Object.fromEntries(bodyTypes[kind].map((type) => [type, { ...shapes, text, pem: text }[kind]]));
}

function headersOf({ risk }: EndpointRow): readonly string[] {
  return [...(risk === 'destructive' ? ['Confirm'] : []), 'Reason', 'DryRun', 'Force', 'BreakGlass'];
}

function pathParameter({ name, rest }: PathParameter, template: string): JsonObject {
  return {
    name,
    in: 'path',
    required: true,
    ...text,
    ...(rest
      ? {
          'x-rest': true,
          description: `Stands for the rest of the path, of one segment or more (\`${template}\`). The slashes in it must be sent as they are; a client that encodes them can send one segment alone.`,
        }
      : {}),
  };
}

function parameterRef(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** The components that the parameters above refer to. */
export const sharedParameters: JsonObject = {
  Appliance: {
    name: 'appliance',
    in: 'path',
    required: true,
    description: 'The name of the appliance in the configuration; GET /appliances lists those that the token covers.',
    ...text,
  },
  Confirm: {
    name: 'X-Confirm',
    in: 'header',
    required: true,
    description:
      'The name of the object: the last segment of the path. Where no part of the path is a name, the name of the appliance. May be percent-encoded.',
    ...text,
  },
  Reason: {
    name: 'X-Reason',
    in: 'header',
    description: 'Why, for the audit. Characters beyond ASCII are percent-encoded.',
    ...text,
  },
  DryRun: {
    name: 'X-Dry-Run',
    in: 'header',
    description: 'Answers what would be sent and what speaks against it, and sends nothing that changes anything.',
    ...flag,
  },
  Force: {
    name: 'X-Force',
    in: 'header',
    description: 'Sends it in spite of what a guard found. Needs X-Reason.',
    ...flag,
  },
  BreakGlass: {
    name: 'X-Break-Glass',
    in: 'header',
    description:
      'Sends it without the approval that it needs, in an emergency. Needs X-Reason, and a token with break_glass.',
    ...flag,
  },
};
