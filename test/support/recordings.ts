import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ReadKey } from '../../src/appliance/client.ts';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { createRouteMatcher } from '../../src/appliance/route.ts';

/**
 * One request and its answer, as files in test/recorded/exchanges and in the folder they were made
 * from hold them.
 */
export interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    /** Base path and query included. */
    readonly path: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: string | null;
  };
  readonly response: {
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: string;
    readonly body_encoding: 'utf-8' | 'latin-1';
  };
  /** Missing in a few, which are not part of a sequence. */
  readonly recorded_at?: string;
}

/** The recordings that every clone has, with the appliance's sentences replaced. */
export const ownRecordings = fileURLToPath(new URL('../recorded/exchanges/', import.meta.url));

/** The recordings as they were made; beside the clone on some machines. */
const sharedRecordings = fileURLToPath(new URL('../../../shared/recorded/', import.meta.url));

/** The recorded products, with the folder of every clone and the one beside it on some machines. */
export const recordedProducts = [
  { product: 'relianoid', clone: ownRecordings, beside: sharedRecordings },
  {
    product: 'skudonet',
    clone: fileURLToPath(new URL('../recorded/exchanges-skudonet/', import.meta.url)),
    beside: fileURLToPath(new URL('../../../shared/recorded-skudonet/', import.meta.url)),
  },
  {
    product: 'zevenet',
    clone: fileURLToPath(new URL('../recorded/exchanges-zevenet/', import.meta.url)),
    beside: fileURLToPath(new URL('../../../shared/recorded-zevenet/', import.meta.url)),
  },
] as const;

/** Recordings that only some machines have, beside the clone, and no clone. */
export const recordingsBeside = ['zevenet/hung-proxy', 'hung-proxy'].map((name) => ({
  product: name,
  beside: fileURLToPath(new URL(`../../../shared/recorded-${name}/`, import.meta.url)),
}));

/** Whether a folder of recordings is there. */
export function hasRecordings(directory: string): boolean {
  return existsSync(directory) && readdirSync(directory).some((file) => file.endsWith('.json'));
}

/** Every exchange of a folder, in the order in which they were made. */
export function readExchanges(directory: string): readonly Exchange[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(directory, file), 'utf8')) as Exchange),
      name: file.replace(/\.json$/, ''),
    }))
    .sort((a, b) => order(a).localeCompare(order(b)));
}

function order({ recorded_at, name }: Exchange): string {
  return `${recorded_at} ${name}`;
}

/** The body as it was on the wire. */
export function wireBody({ response }: Exchange): Buffer {
  return Buffer.from(response.body, response.body_encoding === 'latin-1' ? 'latin1' : 'utf8');
}

/** The body as text, without compression. */
export function textOf(exchange: Exchange): string {
  const { headers, body_encoding } = exchange.response;
  const isZipped = recordedHeader(headers, 'content-encoding') === 'gzip' && body_encoding === 'latin-1';
  return (isZipped ? gunzipSync(wireBody(exchange)) : wireBody(exchange)).toString();
}

/** A header of a recorded answer, or an empty text. */
export function recordedHeader(headers: readonly (readonly [string, string])[], name: string): string {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1] ?? '';
}

const basePath = /^\/(?:api\/v4\.0\/api|zapi\/v4\.0\/zapi)\.cgi/;

/** The path of a request below the base path of the API. */
export function belowBase(path: string): string {
  return path.replace(basePath, '');
}

const calls = createRouteMatcher(endpointRows.map(([key, row]) => ({ ...row, key })));

/** The call whose reply the exporter decodes; undefined for any other request. */
export function decodedCall({ request }: Exchange) {
  const found = calls.match(request.method, belowBase(request.path));
  return found?.row.reply && { key: found.row.key as ReadKey, reply: found.row.reply };
}
