import type { FastifyReply } from 'fastify';
import { AdminProblem } from '../admin/problem.ts';
import type { RequestContext } from './request-context.ts';

/** Sends a refusal; a client of the appliance's own API finds the sentence where it looks for one. */
export function sendProblem(reply: FastifyReply, problem: AdminProblem, context: RequestContext): FastifyReply {
  // What is left of a body unread would be taken for the next request, and strangers need no place kept.
  const unread = !reply.request.raw.complete;
  return (
    reply
      .code(problem.status)
      .headers({ ...problem.headers, ...(unread || problem.status === 401 ? { connection: 'close' } : {}) })
      .header('content-type', 'application/problem+json')
      // As bytes: to a text Fastify adds a charset, which the type does not know.
      .send(Buffer.from(JSON.stringify(problemBody(problem, context))))
  );
}

/** A refusal as RFC 9457 has it. */
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

/** Any failure as a problem; what nobody foresaw says nothing about itself to the caller. */
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
