import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { knownBasePaths } from '../../appliance/route.ts';
import type { OperationCall } from '../policy/operation.ts';
import type { Caller, Principal } from '../policy/principal.ts';
import { assert } from '../../lib/check.ts';
import type { Secret } from '../../lib/secret.ts';
import type { AdminCall } from '../calls/admin-call.ts';
import { AdminProblem, internalError } from '../policy/problem.ts';
import { maxReasonLength, type AuditSubject } from '../calls/recorder.ts';
import { decodePercent } from '../../lib/text.ts';
import { steadyNow } from '../../lib/time.ts';
import { pathOf } from '../../server/create-app.ts';
import { TooManyReadersError } from '../../server/unfinished-responses.ts';

/**
 * Collects what is known of an admin request, for its response, the audit, the log and the metrics.
 */
export interface RequestContext {
  readonly signal: AbortSignal;
  /** When the request came. */
  readonly startedAtSteadyMs: number;
  principal?: Principal;
  token?: Secret;
  /** An appliance that the caller may know of: clients must not invent label values. */
  appliance?: string;
  /** The operation that the path names, also for a call that is refused. */
  target?: OperationCall;
  /** The call, once its body was read. */
  call?: AdminCall;
  reason?: string;
}

const decorator = 'adminContext';

/** Declares the context of the requests of an app; call it before the app has routes. */
export function declareContext(app: FastifyInstance): void {
  app.decorateRequest(decorator);
}

export function startContext(request: FastifyRequest, reply: FastifyReply): RequestContext {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const context = { signal: gone.signal, startedAtSteadyMs: steadyNow() };
  request.setDecorator<RequestContext>(decorator, context);
  return context;
}

export function contextOf(request: FastifyRequest): RequestContext {
  return request.getDecorator<RequestContext>(decorator);
}

export function callerOf(request: FastifyRequest): Caller {
  const { principal, token, signal } = contextOf(request);
  assert(principal && token, 'the request is authenticated');
  return { principal, token, signal, address: request.ip };
}

export function requestSubject(request: FastifyRequest): AuditSubject {
  const { appliance, target, reason } = contextOf(request);
  const { principal, token, address } = callerOf(request);
  const operation = target?.operation.operationId;
  return {
    id: request.id,
    principal,
    token,
    address,
    appliance,
    operation,
    method: request.method,
    path: target?.path ?? pathOf(request),
    reason,
  };
}

/**
 * Throws an {@link AdminProblem} for a wrong value: a misspelled dry run must not become a real
 * call.
 */
export function readAdminHeaders(headers: IncomingHttpHeaders) {
  const reason = headerText(headers, 'x-reason', (text) => decodePercent(text) ?? text);
  const force = headerFlag(headers, 'x-force');
  const breakGlass = headerFlag(headers, 'x-break-glass');
  if ((force || breakGlass) && reason === undefined) {
    throw new AdminProblem('reason_required', {
      detail: 'A call that is forced, or sent without approval, needs a reason for the audit; nothing was sent.',
    });
  }
  return {
    confirm: headerText(headers, 'x-confirm'),
    reason,
    dryRun: headerFlag(headers, 'x-dry-run'),
    force,
    breakGlass,
  };
}

function headerFlag(headers: IncomingHttpHeaders, name: string): boolean {
  const value = headers[name];
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw malformed(`${name} is neither true nor false`, `Send ${name}: true once, or leave it out.`);
}

/** Measures a text after it is decoded: one letter takes up to nine characters before. */
function headerText(
  headers: IncomingHttpHeaders,
  name: string,
  decode: (text: string) => string = (text) => text,
): string | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  // Node reads header bytes as Latin-1; clients write UTF-8.
  const text = decode(Buffer.from(String(value), 'latin1').toString()).trim();
  if (text === '') return undefined;
  if (text.length > maxReasonLength)
    throw malformed(`${name} is longer than ${maxReasonLength} characters`, 'Shorten it.');
  return text;
}

function malformed(detail: string, remedy: string): AdminProblem {
  return new AdminProblem('malformed_header', {
    detail: `${detail}; nothing was sent.`,
    remedy,
  });
}

/** Sends a refusal; on compatible paths it also has the fields of the appliance's own API. */
export function sendProblem(reply: FastifyReply, problem: AdminProblem): FastifyReply {
  const { id, raw, originalUrl } = reply.request;
  // The unread rest of a body would be parsed as the next request; unknown callers need no open
  // connection.
  const unread = !raw.complete;
  const { title, message, remedy } = problem;
  const isCompatible = knownBasePaths.some((prefix) => originalUrl.startsWith(prefix));
  const ofAppliance = isCompatible && { error: 'true', description: title, message: `${message} ${remedy}` };
  return (
    reply
      .code(problem.status)
      .headers({ ...problem.headers, ...(unread || problem.status === 401 ? { connection: 'close' } : {}) })
      .header('content-type', 'application/problem+json')
      // As bytes: Fastify adds a charset to a string, and problem+json has no such parameter.
      .send(Buffer.from(JSON.stringify({ ...problemBody(problem, id), ...ofAppliance })))
  );
}

/** Returns a refusal in the form of RFC 9457. */
export function problemBody({ code, status, title, message: detail, remedy, members }: AdminProblem, id: string) {
  return {
    type: `urn:zlb-exporter:problem:${code}`,
    title,
    status,
    detail,
    code,
    remedy,
    request_id: id,
    ...members,
  };
}

/**
 * Converts any error into a problem; an unexpected error does not disclose its message to the
 * caller.
 */
export function toProblem(error: unknown): AdminProblem {
  if (error instanceof AdminProblem) return error;
  if (error instanceof TooManyReadersError) {
    return new AdminProblem('busy', {
      detail: 'Too many callers do not read their responses, so this one was not sent.',
      remedy: 'Try again in a moment. A change may have been made: look before you repeat it.',
      headers: { 'retry-after': '5' },
    });
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status < 500) {
    return new AdminProblem('malformed_request', {
      detail: 'The request could not be read; nothing was sent.',
      cause: error,
    });
  }
  return internalError(error);
}
