import type { Principal } from '../gateway/principal.ts';
import { AdminProblem } from '../gateway/problem.ts';
import { errorCode } from '../lib/check.ts';
import { AdminError } from '../gateway/admin-error.ts';
import type { ChangeRequest } from './change-request.ts';

export function unknownRequest(): AdminProblem {
  return new AdminProblem('unknown_request', {
    detail: 'There is no such change request, or the token does not cover it.',
    remedy: 'GET /requests lists those that it covers; old ones are removed.',
  });
}

export function alreadyOver({ id }: Pick<ChangeRequest, 'id'>, because: string): AdminProblem {
  return new AdminProblem('request_over', {
    detail: `${id} does not wait for a decision: ${because}. Nothing was sent.`,
    remedy: `GET /requests/${id} shows what became of it.`,
  });
}

export function notApprover({ name }: Principal, what: string): AdminProblem {
  return new AdminProblem('not_approver', {
    detail: `The token of ${name} may not ${what} this change request; nothing was sent.`,
    remedy: 'Ask somebody whose token has approver: true in admin.tokens.',
  });
}

export function ownRequest({ person }: Principal): AdminProblem {
  return new AdminProblem('own_request', {
    detail: `${person} asked for it, and somebody else must approve it; nothing was sent.`,
    remedy: 'Ask another approver. admin.approvals.self_approval is for one administrator alone.',
  });
}

export function sameObject({ id }: Pick<ChangeRequest, 'id'>): AdminProblem {
  return new AdminProblem('busy', {
    detail: `${id} is changing the same object; nothing was sent.`,
    remedy: `Approve it again once ${id} is over.`,
    headers: { 'retry-after': '5' },
  });
}

export function otherDigest(): AdminProblem {
  return new AdminProblem('digest_mismatch', {
    detail: 'The digest is not that of the present plan; nothing was sent.',
    remedy: 'Read the change request again, look at its plan, and approve that one.',
  });
}

export function planChanged(): AdminProblem {
  return new AdminProblem('plan_changed', {
    detail: 'The object or the findings are not what they were; nothing was sent. The request has the new plan.',
    remedy: 'Look at the new plan, and approve that one.',
  });
}

export function malformed(because: string): AdminProblem {
  return new AdminProblem('malformed_body', {
    detail: `${because}; nothing was sent.`,
    remedy: 'GET /docs shows what the path takes.',
  });
}

/** Throws the problem of a file beside the audit that cannot be written or read. */
export function notStored(cause: unknown): never {
  throw new AdminProblem('audit_unavailable', {
    detail: `The change request cannot be kept beside the audit (${errorCode(cause) || 'its file is damaged'}); nothing was sent.`,
    remedy: 'Look at the disk and the rights of the folder admin.audit_file.requests.',
    headers: { 'retry-after': '30' },
    cause,
  });
}

/** Makes the gateway's problem of what ends a plan. */
export function toProblem(error: unknown): unknown {
  if (!(error instanceof AdminError)) return error;
  const { title, message, remedy } = error;
  const detail = /nothing was/i.test(message) ? message : `${message} Nothing was sent.`;
  if (error instanceof AdminProblem) return new AdminProblem(error.code, { ...error, detail, cause: error });
  return new AdminProblem('recipe_refused', { detail: `${title}. ${detail}`, remedy });
}
