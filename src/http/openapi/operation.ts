import { roleMay, roles } from '../../admin/policy.ts';
import type { BodyKind, EndpointRow } from '../../appliance/endpoints/row.ts';
import { answersOf } from './answers.ts';
import { type JsonObject, schemaRef } from './plain-schema.ts';
import type { PathParameter, Placement } from './placement.ts';

/** The members of an operation that programs and the page use; the rest is JSON. */
export interface OpenApiOperation extends JsonObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
}

/** Returns the OpenAPI operation of a row. */
export function operationOf({ key, row, method, template, parameters }: Placement): OpenApiOperation {
  const { area, since, risk, summary } = row;
  const allowed = roles.filter((role) => roleMay(role, risk));
  return {
    operationId: key,
    tags: [area],
    summary,
    description: [
      `Risk: ${risk}. For ${allowed.join(', ')}. ${since ? `Since API ${since}` : 'The release that brought it is not known'}.`,
      ...(row.body === 'json' ? [`Its parameters: \`GET /appliances/{appliance}/parameters?operation=${key}\`.`] : []),
    ].join('\n\n'),
    'x-risk': risk,
    'x-roles': allowed,
    ...(since ? { 'x-since': since } : {}),
    parameters: [
      parameterRef('Appliance'),
      ...parameters.map((parameter) => pathParameter(parameter, template)),
      ...(method === 'get' ? [] : headersOf(row).map(parameterRef)),
    ],
    ...(row.body === 'none' ? {} : { requestBody: { required: true, content: bodies[row.body] } }),
    responses: answersOf(key, row),
  };
}

const text = { schema: { type: 'string' } };

/** The media types that the gateway takes, the usual one first. */
const bodies: Readonly<Record<Exclude<BodyKind, 'none'>, JsonObject>> = {
  json: { 'application/json': { schema: schemaRef('Settings') } },
  text: { 'text/plain': text, 'application/x-pem-file': text },
  pem: { 'application/x-pem-file': text, 'text/plain': text },
  gzip: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
};

function headersOf({ risk }: EndpointRow): readonly string[] {
  return [...(risk === 'destructive' ? ['Confirm'] : []), 'Reason', 'DryRun', 'Force'];
}

function pathParameter({ name, rest }: PathParameter, template: string): JsonObject {
  return {
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(rest
      ? {
          description: `Stands for the rest of the path, of one segment or more (\`${template}\`). The slashes in it must be sent as they are; a client that encodes them, such as the page at /docs, can send one segment alone.`,
        }
      : {}),
  };
}

export function parameterRef(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** The components that the parameters above refer to. */
export const sharedParameters: JsonObject = {
  Appliance: {
    name: 'appliance',
    in: 'path',
    required: true,
    description: 'The name of the appliance in the configuration; GET /appliances lists those that the token covers.',
    schema: { type: 'string' },
  },
  Confirm: {
    name: 'X-Confirm',
    in: 'header',
    required: true,
    description:
      "The name of the object, as the last segment of the path has it. Where no part of the path is a name, the appliance's will do as well. May be percent-encoded.",
    schema: { type: 'string' },
  },
  Reason: {
    name: 'X-Reason',
    in: 'header',
    description: 'Why, for the audit. Characters beyond ASCII are percent-encoded.',
    schema: { type: 'string' },
  },
  DryRun: {
    name: 'X-Dry-Run',
    in: 'header',
    description: 'Answers what would be sent and what speaks against it, and sends nothing that changes anything.',
    schema: { type: 'string', enum: ['true'] },
  },
  Force: {
    name: 'X-Force',
    in: 'header',
    description: 'Sends it in spite of what a guard found. Needs X-Reason.',
    schema: { type: 'string', enum: ['true'] },
  },
};
