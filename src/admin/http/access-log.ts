import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from '../calls/admin-metrics.ts';
import { riskOf } from '../policy/policy.ts';
import type { AdminProblem } from '../policy/problem.ts';
import type { Recorder } from '../calls/recorder.ts';
import { codeOfStatus } from '../../appliance/response.ts';
import { steadyNow } from '../../lib/time.ts';
import { contextOf, requestSubject } from './admin-request.ts';

/** The places where each admin request is recorded. */
export interface AccessLogParts {
  readonly metrics: Pick<AdminMetrics, 'countResponse' | 'countDenied'>;
  readonly recorder: Pick<Recorder, 'recordBestEffort'>;
  readonly log: Logger;
}

/** Audits and counts a refusal; the gateway itself records what it sent. */
export async function recordRefusal(
  { metrics, recorder }: AccessLogParts,
  request: FastifyRequest,
  problem: AdminProblem,
): Promise<void> {
  const { principal, appliance = '', call } = contextOf(request);
  // This is not a refusal: the audit gets its outcome instead, or its caller has left.
  if ((call && call.stage !== 'new') || problem.code === 'caller_left') return;
  if (problem.status < 500) metrics.countDenied({ appliance, principal: principal?.name ?? '', reason: problem.code });
  if (!principal || problem.status >= 500) return;
  await recorder.recordBestEffort(requestSubject(request), {
    event: 'denied',
    status: problem.status,
    code: problem.code,
  });
}

/** Counts and logs a request when its connection is done with it, answered or not. */
export function recordResponse({ metrics, log }: AccessLogParts, request: FastifyRequest, reply: FastifyReply): void {
  const { principal, appliance = '', call, signal, startedAtSteadyMs, ...context } = contextOf(request);
  const { target = context.target, stage = 'new' } = call ?? {};
  // A token that may do nothing could invent a series for each operation.
  const isRefused = reply.statusCode === 403 && stage === 'new';
  const endpoint = target && !isRefused ? target.operation.template : gatewayEndpoint(request);
  const code = signal.aborted ? '499' : codeOfStatus(reply.statusCode);
  metrics.countResponse({ appliance, endpoint, method: request.method, code });
  if (!principal) return;
  log[target && riskOf(target) !== 'read' ? 'info' : 'debug'](
    {
      request: request.id,
      principal: principal.name,
      address: request.ip,
      appliance,
      operation: target?.operation.operationId ?? endpoint,
      // If the caller has left, the status that it would have got.
      status: reply.statusCode,
      ...(signal.aborted ? { left: true } : {}),
      seconds: Math.round(steadyNow() - startedAtSteadyMs) / 1_000,
    },
    'admin request',
  );
}

/**
 * Returns the route of a path of the gateway itself, for a file of its pages the page; '' for
 * unknown paths, or clients could invent label values.
 */
function gatewayEndpoint({ routeOptions }: FastifyRequest): string {
  const url = routeOptions.url ?? '';
  const [page] = /^\/(?:docs|console)(?=\/)/.exec(url) ?? [];
  return page ?? (url.includes('*') ? '' : url);
}
