import type { IncomingHttpHeaders } from 'node:http';
import type { EndpointRow } from '../src/appliance/api/row.ts';
import { endpoints } from '../src/appliance/api/table.ts';
import { createRouteMatcher } from '../src/appliance/route.ts';
import { isRecord } from '../src/lib/check.ts';
import { forbidden, userOf } from './access.ts';
import { type Call, json, notFound, Refusal, type Reply } from './call.ts';
import { answerAnyway, handlers } from './handlers.ts';
import { deactivatedBecause } from './replies/activation.ts';
import { hasApi402, type World } from './world.ts';

interface ApiRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** As in `Destination` (exchange.ts). */
  readonly path: string;
  readonly shown: string;
  readonly content: Buffer;
  readonly nowMs: number;
}

export interface Api {
  /**
   * Returns the route of the table that serves a request; verb and path as sent if there is none.
   */
  routeOf(method: string, path: string): string;
  /** Returns the answer to a call that its key, its role or the licence forbids, before its route. */
  refusal(request: Omit<ApiRequest, 'shown' | 'content'>): Reply | undefined;
  answer(request: ApiRequest): Reply;
}

const unauthorised = json(401, { message: 'Authorization required' });
const unsupported = json(415, { error: 'true', message: 'This content type is not supported.' });
const contentTypes = ['application/json', 'text/plain', 'application/x-pem-file', 'application/gzip'];

/**
 * Answers requests in the appliance's order of checks (docs/api.md §1.2, §3.19): key, role,
 * licence, then the route.
 */
export function createApi(world: World): Api {
  const rows: readonly EndpointRow[] = Object.values(endpoints);
  const matcher = createRouteMatcher(rows.filter((row) => isServed(row, world)));

  function match(method: string, path: string) {
    const found = matcher.match(method, path);
    return found && Object.entries(found.params).every(([name, value]) => isPossible(name, value)) ? found : undefined;
  }

  function refusal({ method, headers, path, nowMs }: Omit<ApiRequest, 'shown' | 'content'>): Reply | undefined {
    const user = userOf(world, headers);
    if (!user) return unauthorised;
    const denied = forbidden(world, user, method, path);
    if (denied) return denied;
    const reason = deactivatedBecause(world, nowMs);
    if (reason === undefined || path === '/certificates/activation') return undefined;
    return json(402, { message: reason, certificate_key: world.activation.certificateKey, hostname: world.hostname });
  }

  function answer(request: ApiRequest): Reply {
    const { method, headers, path, shown, content, nowMs } = request;
    const user = userOf(world, headers);
    const refused = refusal(request);
    if (!user || refused) return refused ?? unauthorised;

    const found = match(method, path);
    if (!found) return notFound(shown);
    const { route, summary } = found.row;
    const body = readBody(world, method, headers, content);
    if ('refused' in body) return body.refused;
    return described(summary, replyOf({ world, user, nowMs, route, params: found.params, json: body.json, content }));
  }

  return {
    routeOf: (method, path) => match(method, path)?.row.route ?? `${method} ${path}`,
    refusal,
    answer,
  };
}

function replyOf(call: Call): Reply {
  try {
    return (handlers[call.route] ?? answerAnyway)(call);
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    throw error;
  }
}

/** Adds a description to the objects of JSON; one of the reply wins. */
function described(description: string, reply: Reply): Reply {
  if (reply.kind !== 'json' || !isRecord(reply.value)) return reply;
  return { ...reply, value: { description, ...reply.value } };
}

/**
 * False for a name that cannot exist: the appliance answers 404 for it, as for an unknown route.
 */
function isPossible(name: string, value: string): boolean {
  if (name === 'farmname') return /^[a-zA-Z0-9-]+$/.test(value);
  return (name !== 'backend' && name !== 'index') || /^\d+$/.test(value);
}

type ReadBody = { readonly refused: Reply } | { readonly json: Readonly<Record<string, unknown>> | undefined };

// docs/api.md §1.3. The text `0` counts as an empty body (recorded).
function readBody(world: World, method: string, headers: IncomingHttpHeaders, content: Buffer): ReadBody {
  if (method !== 'POST' && method !== 'PUT') return { json: {} };
  const type = headers['content-type'] ?? '';
  if (!contentTypes.includes(type)) return { refused: unsupported };
  if (type !== 'application/json') return { json: undefined };

  const text = content.toString();
  if (text === '' || text === '0') return world.release === 'newest' ? { refused: unsupported } : { json: {} };
  const value = parsed(text);
  if (!value) return { refused: json(400, { error: 'true', message: 'The body is not JSON that can be used.' }) };
  // An array crashes the appliance's handler.
  return isRecord(value) ? { json: value } : { refused: { kind: 'page', status: 500 } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Routes that the Community Edition lacks: it answers 404, or another route matches. */
const enterpriseOnly = [
  / \/certificates\/activation/,
  / \/farms\/modules\/gslb$/,
  /^POST \/farms\/\{farmname\}$/,
  / \/farms\/\{farmname\}\/certificates\/\{certificate\}\/actions$/,
  / \/farms\/\{farmname\}\/services\/\{service\}\/actions$/,
  / \/farms\/\{farmname\}\/(?:replacerequestheader|replaceresponseheader|service|sessions|zones|ipds)(?:\/|$)/,
  / \/farms\/\{farmname\}\/services\/\{service\}\/sessions/,
  / \/interfaces\/(?:bonding|floating)/,
  /^PUT \/monitoring\/fg$/,
  /\{\w+\*\}/,
  / \/(?:aliases|routing|ipds|rbac|aws|azure)(?:\/|$)/,
  / \/stats\/system\/(?:network\/interfaces|connections|cpu|memory|load)$/,
  / \/system\/(?:global|factory|ssh|http|https\/certificate|rsyslog|packages\/offline|cluster|notifications)(?:\/|$)/,
];

/** The routes that SKUDONET's Community Edition has nevertheless. */
const firewall = [/^GET \/ipds(?:\/waf.*)?$/, /\/farms\/\{farmname\}\/ipds\/waf/];
const olderOnly = [/ \/interfaces\/gateway$/];
const newestOnly = [/ \/certificates\/(?:letsencrypt(?:\/|$)|pem$)/, / \/vpns/, / \/system\/(?:proxy|support)$/];

/** True if the edition and release have the route (docs/api.md §7). */
function isServed({ route, since }: EndpointRow, world: World): boolean {
  const { edition, release, product } = world;
  if (edition === 'community') {
    if (matches(enterpriseOnly, route) && !(product === 'skudonet' && matches(firewall, route))) return false;
    if (matches(release === 'newest' ? olderOnly : newestOnly, route)) return false;
  }
  return hasApi402(world) || since !== '4.0.2';
}

function matches(patterns: readonly RegExp[], route: string): boolean {
  return patterns.some((pattern) => pattern.test(route));
}
