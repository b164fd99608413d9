import type { FastifyReply } from 'fastify';
import { AdminProblem } from '../admin/problem.ts';
import type { RequestContext } from './request-context.ts';

/** Sends a refusal; on compatible paths it also has the fields of the appliance's own API. */
export function sendProblem(reply: FastifyReply, problem: AdminProblem, context: RequestContext): FastifyReply {
  // The unread rest of a body would be parsed as the next request; unknown callers need no open
  // connection.
  const unread = !reply.request.raw.complete;
  return (
    reply
      .code(problem.status)
      .headers({ ...problem.headers, ...(unread || problem.status === 401 ? { connection: 'close' } : {}) })
      .header('content-type', 'application/problem+json')
      // As bytes: Fastify adds a charset to a string, and problem+json has no such parameter.
      .send(Buffer.from(JSON.stringify(problemBody(problem, context))))
  );
}

/** Returns a refusal in the form of RFC 9457. */
export function problemBody(problem: AdminProblem, { id, compatible }: Pick<RequestContext, 'id' | 'compatible'>) {
  const { code, status, title, message: detail, remedy, members } = problem;
  return {
    type: `urn:zlb-exporter:problem:${code}`,
    title,
    status,
    detail,
    code,
    remedy,
    request_id: id,
    ...members,
    ...(compatible ? { error: 'true', description: title, message: `${detail} ${remedy}` } : {}),
  };
}

/**
 * Converts any error into a problem; an unexpected error does not disclose its message to the
 * caller.
 */
export function toProblem(error: unknown): AdminProblem {
  if (error instanceof AdminProblem) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status < 500) {
    return new AdminProblem('malformed_request', {
      detail: 'The request could not be read; nothing was sent.',
      remedy: 'Check how the client writes its request.',
      cause: error,
    });
  }
  return new AdminProblem('internal_error', {
    detail: 'The gateway failed.',
    remedy: 'Look into the log of the exporter for the request id.',
    cause: error,
  });
}
