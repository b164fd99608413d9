import type { RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import type { JsonObject } from './responses.ts';

/** Describes a route of the gateway, as `gatewayRoute` makes it (responses.ts). */
interface RouteSchema {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security?: readonly [];
  readonly takes?: TSchema;
  readonly response: JsonObject;
  readonly params?: PlaceSchema;
  readonly querystring?: PlaceSchema;
  readonly headers?: PlaceSchema;
}

interface PlaceSchema {
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
}

/** The routes of the gateway itself that say what they are, by path and verb. */
export type GatewayPaths = Record<string, Record<string, JsonObject>>;

/** Adds a route of the gateway to its document; one without an operationId is a file of a page. */
export function describeRoute(paths: GatewayPaths, { url, method, schema }: RouteOptions): void {
  // Fastify adds a HEAD for each GET.
  if (!hasOperation(schema) || typeof method !== 'string' || method === 'HEAD') return;
  const { params, querystring, headers, takes, response, ...described } = schema;
  const path = url.replaceAll(/:(\w+)/g, '{$1}');
  const operation = {
    ...described,
    parameters: [
      ...parametersIn('query', querystring),
      ...parametersIn('path', params),
      ...parametersIn('header', headers),
    ],
    ...(takes
      ? { requestBody: { required: isRequired(takes), content: { 'application/json': { schema: takes } } } }
      : {}),
    responses: response,
  };
  paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
}

/** Returns false for a body of which every part may be missing. */
function isRequired({ required = [] }: PlaceSchema): boolean {
  return required.length > 0;
}

function hasOperation(schema: unknown): schema is RouteSchema {
  return typeof schema === 'object' && schema !== null && 'operationId' in schema;
}

function parametersIn(place: string, { properties = {}, required = [] }: PlaceSchema = {}): readonly JsonObject[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    description,
    schema,
  }));
}
