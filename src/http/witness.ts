import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AdminMetrics } from '../admin/admin-metrics.ts';
import type { Overridden } from '../admin/guards/overridden.ts';
import type { OperationCall } from '../admin/operation.ts';
import type { AdminProblem } from '../admin/problem.ts';
import type { Recorder } from '../admin/recorder.ts';
import { codeOfStatus } from '../appliance/answer.ts';
import type { RequestContext } from './request-context.ts';
import { pathOf } from './request-target.ts';

/** What is said of each admin request: to the audit, the metrics and the log. */
export interface Witness {
  /** The audit of what was refused; what was sent has its own records. */
  refused(request: FastifyRequest, context: RequestContext, problem: AdminProblem): Promise<void>;
  /** Once the connection is done with it, answered or not. */
  over(request: FastifyRequest, reply: FastifyReply, context: RequestContext): void;
}

export interface WitnessParts {
  readonly metrics: Pick<AdminMetrics, 'answered' | 'denied' | 'overridden'>;
  readonly recorder: Pick<Recorder, 'note'>;
  readonly log: Logger;
}

export function createWitness({ metrics, recorder, log }: WitnessParts): Witness {
  return {
    async refused(request, context, problem) {
      const { id, principal, token, appliance, call, sent, reason } = context;
      // Nobody was refused.
      if (sent || problem.code === 'caller_left') return;
      if (problem.status < 500)
        metrics.denied({ appliance: appliance ?? '', principal: principal?.name ?? '', reason: problem.code });
      if (!principal || !token || problem.status >= 500) return;
      const subject = {
        id,
        principal,
        token,
        appliance,
        operation: call?.operation.key,
        method: request.method,
        path: call?.path ?? pathOf(request),
        reason,
      };
      await recorder.note(subject, { event: 'denied', status: problem.status, code: problem.code });
    },

    over(request, reply, { principal, appliance = '', call, id, signal, startedAtMs, overridden = {} }) {
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
          // What the caller would have got, had it stayed.
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

function levelOf(call: OperationCall | undefined, { forced, warned }: Overridden): 'debug' | 'info' | 'warn' {
  if (forced || warned) return 'warn';
  return call && call.operation.row.risk !== 'read' ? 'info' : 'debug';
}

/** The route of the gateway's own paths; unknown ones have none, or strangers would make up label values. */
function ownEndpoint({ routeOptions }: FastifyRequest): string {
  const url = routeOptions.url ?? '';
  return url.includes('*') ? '' : url;
}
