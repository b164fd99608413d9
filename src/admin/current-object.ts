import { mediaTypeOf } from '../appliance/answer.ts';
import type { EndpointRow } from '../appliance/endpoints/row.ts';
import { type EndpointKey, endpointRows } from '../appliance/endpoints/table.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { Relay } from '../appliance/relay.ts';
import { createRouteMatcher } from '../appliance/route.ts';
import { maskValue } from './mask.ts';
import type { OperationCall } from './operation.ts';
import { readAnswer } from './buffered-answer.ts';

/** The present state of the object of a call. */
export interface CurrentObject {
  /** The operation that read it. */
  readonly operation: EndpointKey;
  readonly status: number;
  /** JSON or text without secrets; a sentence if it cannot be shown. */
  readonly body: unknown;
}

export interface CurrentObjectParts {
  readonly call: OperationCall;
  readonly relay: Pick<Relay, 'send'>;
  /** Returns true if the caller may see the result of a read. */
  readonly mayRead: (key: EndpointKey, row: EndpointRow) => boolean;
  readonly signal: AbortSignal;
}

const maxBytes = 262_144;

/**
 * Reads the object that a call is about, or the list that it is or would be in: the read of the
 * same path, else of the nearest path above it. Null when nothing there may be read, or the
 * appliance does not answer.
 */
export async function currentObject({
  call,
  relay,
  mayRead,
  signal,
}: CurrentObjectParts): Promise<CurrentObject | null> {
  const found = readAbove(call.path, mayRead);
  if (!found) return null;
  const { operation, path } = found;
  try {
    const { status, headers, text } = await readAnswer(relay, { method: 'GET', path, signal }, maxBytes);
    return { operation, status, body: presentable(text, headers['content-type'] ?? '') };
  } catch (error) {
    if (!(error instanceof ApplianceError)) throw error;
    if (error.reason !== 'oversize') return null;
    return { operation, status: error.status ?? 200, body: `Left out: ${error.message}.` };
  }
}

function readAbove(path: string, mayRead: CurrentObjectParts['mayRead']) {
  const rows = endpointRows
    .filter(([key, row]) => isState(key, row) && mayRead(key, row))
    .map(([key, { route }]) => ({ key, route }));
  const matcher = createRouteMatcher(rows);
  for (let above = path; above !== ''; above = above.slice(0, above.lastIndexOf('/'))) {
    const match = matcher.match('GET', above);
    if (match) return { operation: match.row.key, path: above };
  }
  return undefined;
}

/**
 * Excludes files, which may be private keys, and wildcard rows, which match paths that do not
 * exist.
 */
function isState(key: EndpointKey, { route }: EndpointRow): boolean {
  return route.startsWith('GET ') && !key.startsWith('download') && !route.includes('*}');
}

function presentable(text: string, contentType: string): unknown {
  try {
    return maskValue(JSON.parse(text));
  } catch {
    return mediaTypeOf(contentType).startsWith('text/') ? maskValue(text) : 'Left out: it is neither JSON nor text.';
  }
}
