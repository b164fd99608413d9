import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal } from '../gateway/principal.ts';
import { AdminProblem } from '../gateway/problem.ts';
import { NotificationSchema, type Proposals } from '../requests/proposals.ts';
import { callerOf } from './admin-request.ts';
import { own } from './openapi/answers.ts';
import type { RequestBodies } from './request-bodies.ts';
import { pathOf } from './request-checks.ts';

export interface AlertRouteParts {
  readonly proposals: Proposals;
  readonly bodies: Pick<RequestBodies, 'readJson'>;
}

const alertsPath = '/alerts';

/** `POST /alerts`: Alertmanager's webhook. A firing alert with a known repair is proposed. */
export function registerAlerts(app: FastifyInstance, { proposals, bodies }: AlertRouteParts): void {
  const schema = own('postAlerts', "take Alertmanager's webhook, and propose known repairs (alertmanager)", {
    description: 'How many alerts were taken up.',
    schema: 'TakenAlerts',
  });
  app.post(alertsPath, { schema }, async (request) =>
    proposals.take(await bodies.readJson(request, NotificationSchema), callerOf(request)),
  );
}

/** Keeps the role `alertmanager` and this path for each other. Throws an {@link AdminProblem}. */
export function refuseOtherThanAlerts(request: FastifyRequest, principal: Principal | undefined): void {
  const isAlertmanager = principal?.role === 'alertmanager';
  if (isAlertmanager === (pathOf(request) === alertsPath)) return;
  throw new AdminProblem('role_too_low', {
    detail: isAlertmanager
      ? `The role alertmanager only posts alerts to ${alertsPath}; nothing was sent.`
      : `${alertsPath} is for the role alertmanager alone; nothing was sent.`,
    remedy: 'Use a token with the other role.',
  });
}
