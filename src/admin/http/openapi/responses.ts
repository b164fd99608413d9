import type { TSchema } from 'typebox';
import {
  lengthKeyword,
  partKeyword,
  rowsKeyword,
  wireKeyword,
  type WireKind,
  wireKinds,
} from '../../../appliance/wire-types.ts';
import { isOneOf, isRecord } from '../../../lib/check.ts';
import { isWriteRisk } from '../../policy/policy.ts';
import { problemCodes, problemStatus } from '../../policy/problem.ts';
import type { EndpointRow } from '../../../appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../../appliance/api/table.ts';
import type { gatewaySchemas } from './gateway-schemas.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const wireNames: Readonly<Record<WireKind, string>> = {
  number: 'WireNumber',
  signed: 'WireNumber',
  text: 'WireText',
  state: 'WireText',
  name: 'WireName',
};

/**
 * The components that {@link plainSchema} refers to: how this family of appliances writes numbers
 * and texts.
 */
export const wireSchemas: JsonObject = {
  [wireNames.number]: {
    type: ['number', 'string', 'null'],
    description: 'A number, or its digits as a text. An empty text and null say that it is not set.',
  },
  [wireNames.text]: {
    type: ['string', 'number', 'null'],
    description: 'A text that some releases write as a number or leave null.',
  },
  [wireNames.name]: { type: ['string', 'number'], description: 'A text that identifies something; never empty.' },
};

/** Returns a schema of ours in only the words of JSON Schema 2020-12. */
export function plainSchema(schema: TSchema): unknown {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (!isRecord(value)) return value;
    const { [wireKeyword]: kind, [partKeyword]: part, [rowsKeyword]: rows, [lengthKeyword]: list, ...others } = value;
    if (typeof list === 'string' && isRecord(others.properties))
      return { ...others, properties: { ...others.properties, [list]: { type: ['array', 'null'] } } };
    if (isOneOf(wireKinds, kind)) return schemaRef(wireNames[kind]);
    if (isRecord(rows)) return { type: value.type, items: rows.item, maxItems: rows.maxRows };
    return part === undefined ? value : { anyOf: [part, { type: 'null' }] };
  });
}

export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The error statuses of the API (docs/api.md §1.3, §1.5); its 401 is the gateway's 502. */
const applianceErrors = {
  400: 'a parameter is wrong, or none was sent: then the answer lists those that the operation takes',
  402: 'the load balancer has no valid activation certificate, and needs one for this',
  403: 'the owner of the key that the gateway uses may not do this, or not with this object',
  404: 'there is no such path on this release and edition, or no such object',
  405: 'the verb is not there for this path',
  406: 'the feature is out of service for now',
  409: 'what is asked for contradicts the present configuration; the system log may say more',
  410: 'the feature is no longer there',
  415: 'the body has a type that the path does not take; newest releases refuse an empty one too',
  500: 'the server failed',
  504: 'the work took longer than the server waits',
} as const;

/** The operations that the API's documents describe as text instead of JSON. */
const textAnswers: readonly string[] = [
  'readCertificateInfo',
  'readActivationCertificate',
  'readLicenceText',
] satisfies EndpointKey[];
const downloads: readonly string[] = [
  'downloadCertificate',
  'downloadLog',
  'downloadBackup',
  'downloadSupportBundle',
  'downloadLegacySupportBundle',
  'downloadLargeSupportBundle',
] satisfies EndpointKey[];

/** The shapes of replies, each named after the first operation that answers with it. */
const replyNames: ReadonlyMap<TSchema, string> = new Map(
  Object.entries<EndpointRow>(endpoints)
    .toReversed()
    .flatMap(([key, { reply }]) =>
      reply && !textAnswers.includes(key) ? [[reply, `${key.charAt(0).toUpperCase()}${key.slice(1)}Reply`]] : [],
    ),
);

/** Returns the answers to an operation of an appliance, by status. */
export function answersOf(key: EndpointKey, row: EndpointRow): JsonObject {
  const success = successOf(key, row);
  return {
    200: success,
    ...(row.route.startsWith('POST ') ? { 201: success } : {}),
    ...(canWait(row) ? { 202: responseRef('Waiting') } : {}),
    ...Object.fromEntries(Object.keys(applianceErrors).map((status) => [status, responseRef(`Error${status}`)])),
    502: responseRef('Error502'),
    default: responseRef('Refused'),
  };
}

const refused = 'A refusal or failure of the gateway; `code` says which.';

export const gatewayTag = 'gateway';

interface RouteResponse {
  readonly description: string;
  /** The name of its component. */
  readonly schema: keyof typeof gatewaySchemas;
  readonly status?: number;
  /** The JSON that the route takes. */
  readonly takes?: TSchema;
  /** Other answers, by status. */
  readonly others?: JsonObject;
}

/**
 * Returns what the document shows of a route of the gateway itself, as parts of its schema. `takes`
 * is only for the document: the handler reads the body, within the limits of bodies.
 */
export function gatewayRoute(operationId: string, summary: string, answer: RouteResponse) {
  const { description, schema, status = 200, takes, others } = answer;
  return {
    operationId,
    tags: [gatewayTag],
    summary,
    takes,
    response: {
      ...others,
      [status]: { description, content: json(schemaRef(schema)) },
      default: { description: refused, content: problem },
    },
  };
}

/** Returns true if the call may become a change that waits for approval; a file is not kept until then. */
function canWait({ risk, body }: EndpointRow): boolean {
  return isWriteRisk(risk) && body !== 'gzip';
}

function successOf(key: EndpointKey, { route, reply }: EndpointRow): JsonObject {
  if (textAnswers.includes(key)) return responseRef('Text');
  if (downloads.includes(key)) return responseRef('Download');
  if (!route.startsWith('GET ')) return responseRef('Done');
  const name = reply && replyNames.get(reply);
  if (name === undefined) return responseRef('Undocumented');
  return { description: 'The answer of the appliance, as it came.', content: json(schemaRef(name)) };
}

export function replySchemas(): JsonObject {
  return Object.fromEntries([...replyNames].map(([reply, name]) => [name, plainSchema(reply)]));
}

export function sharedAnswers(): JsonObject {
  const errors = Object.entries(applianceErrors).map(([status, because]) => [
    `Error${status}`,
    {
      description: `From the appliance: ${because}.${gatewayCodes(Number(status))}`,
      content: {
        ...json(schemaRef('ApplianceError')),
        ...(status === '500' ? page : {}),
        ...(gatewayCodes(Number(status)) === '' ? {} : problem),
      },
    },
  ]);
  return {
    Undocumented: {
      description: 'The answer of the appliance, as it came; its shape is not documented.',
      content: json({}),
    },
    Done: {
      description: 'The answer of the appliance, as it came; its shape is not documented. With X-Dry-Run: a DryRun.',
      content: json({ anyOf: [{ type: 'object' }, schemaRef('DryRun')] }),
    },
    Waiting: {
      description: 'It needs approval: nothing was sent, and the change at Location waits for it.',
      content: json(schemaRef('Change')),
    },
    Text: { description: 'Text, as it came.', content: { 'text/plain': { schema: { type: 'string' } } } },
    Download: {
      description: 'A file, as it came; Content-Disposition has its name.',
      content: { 'application/x-download': { schema: { type: 'string', format: 'binary' } } },
    },
    ...Object.fromEntries(errors),
    Error502: {
      description: `The appliance could not be asked, or its answer could not be passed on.${gatewayCodes(502)}`,
      content: problem,
    },
    Refused: { description: refused, content: problem },
  };
}

const problem: JsonObject = { 'application/problem+json': { schema: schemaRef('Problem') } };

/** The page that the web server of an appliance shows when the program behind it ends early. */
const page: JsonObject = { 'text/html': { schema: { type: 'string' } } };

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

function responseRef(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

/** Returns a sentence with the gateway's own reasons for a status; empty if it has none. */
function gatewayCodes(status: number): string {
  const codes = problemCodes.filter((code) => problemStatus(code) === status).map((code) => `\`${code}\``);
  return codes.length === 0 ? '' : ` From the gateway: ${codes.join(', ')}.`;
}
