import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from '../gateway/admin-metrics.ts';
import type { Overridden } from '../gateway/guards/guard.ts';
import type { OperationCall } from '../gateway/operation.ts';
import { riskOf } from '../gateway/policy.ts';
import type { AdminProblem } from '../gateway/problem.ts';
import type { Recorder } from '../gateway/recorder.ts';
import { codeOfStatus } from '../appliance/answer.ts';
import { contextOf, type RequestContext, subjectOf } from './admin-request.ts';

/** Records each admin request in the audit, the metrics and the log. */
export interface AccessLog {
  /** Audits and counts a refusal; the gateway itself records what it sent. */
  rejected(request: FastifyRequest, problem: AdminProblem): Promise<void>;
  /** Counts and logs a request when its connection is done with it, answered or not. */
  finished(request: FastifyRequest, reply: FastifyReply, context: RequestContext): void;
}

export interface AccessLogParts {
  readonly metrics: Pick<AdminMetrics, 'answered' | 'denied' | 'overridden'>;
  readonly recorder: Pick<Recorder, 'note'>;
  readonly log: Logger;
}

export function createAccessLog({ metrics, recorder, log }: AccessLogParts): AccessLog {
  return {
    async rejected(request, problem) {
      const { principal, appliance = '', sent } = contextOf(request);
      // This is no refusal: the request was sent, or its caller has left.
      if (sent || problem.code === 'caller_left') return;
      if (problem.status < 500) metrics.denied({ appliance, principal: principal?.name ?? '', reason: problem.code });
      if (!principal || problem.status >= 500) return;
      await recorder.note(subjectOf(request), { event: 'denied', status: problem.status, code: problem.code });
    },

    finished(request, reply, { principal, appliance = '', call, id, signal, startedAtMs, overridden = {} }) {
      const endpoint = call?.operation.template ?? ownEndpoint(request);
      const code = signal.aborted ? '499' : codeOfStatus(reply.statusCode);
      metrics.answered({ appliance, endpoint, method: request.method, code });
      if (!principal) return;
      metrics.overridden(appliance, overridden);
      const level = levelOf(call, overridden);
      log[level](
        {
          request: id,
          principal: principal.name,
          appliance,
          operation: call?.operation.key ?? endpoint,
          // If the caller has left, the status that it would have got.
          status: reply.statusCode,
          ...(signal.aborted ? { left: true } : {}),
          ...overridden,
          seconds: Math.round(performance.now() - startedAtMs) / 1_000,
        },
        'admin request',
      );
    },
  };
}

function levelOf(call: OperationCall | undefined, overridden: Overridden): 'debug' | 'info' | 'warn' {
  if (Object.keys(overridden).length > 0) return 'warn';
  return call && riskOf(call) !== 'read' ? 'info' : 'debug';
}

/**
 * Returns the route of a path of the gateway itself, for a file of its pages the page; '' for
 * unknown paths, or clients could invent label values.
 */
function ownEndpoint({ routeOptions }: FastifyRequest): string {
  const url = routeOptions.url ?? '';
  const [page] = /^\/(?:docs|console)(?=\/)/.exec(url) ?? [];
  return page ?? (url.includes('*') ? '' : url);
}
