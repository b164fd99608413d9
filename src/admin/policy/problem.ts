import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { AdminError } from './admin-error.ts';

/** All refusals of the gateway itself: stable code, HTTP status and title. */
const problemKinds = {
  unauthenticated: [401, 'No valid token'],
  token_expired: [401, 'The token has expired'],
  token_in_url: [400, 'A token must not be part of a URL'],
  too_many_failures: [429, 'Too many wrong tokens'],
  cross_origin: [403, 'Requests from other web pages are refused'],
  role_too_low: [403, 'The role does not allow this operation'],
  operation_denied: [403, 'The token does not allow this operation'],
  appliance_denied: [403, 'The token does not cover this appliance'],
  unknown_appliance: [404, 'No such appliance'],
  appliance_not_named: [404, 'The path does not say which appliance'],
  unknown_path: [404, 'No such operation'],
  unsafe_path: [400, 'The path is not acceptable'],
  path_too_long: [414, 'The path is too long'],
  method_not_allowed: [405, 'The path has no such operation'],
  malformed_request: [400, 'The request is malformed'],
  malformed_header: [400, 'A header is malformed'],
  body_not_allowed: [400, 'The operation takes no body'],
  malformed_body: [400, 'The body cannot be read'],
  wrong_content_type: [415, 'The content type is not the one of the operation'],
  length_required: [411, 'The length of the body must be known'],
  body_too_large: [413, 'The body is too large'],
  too_many_bodies: [429, 'Too many bodies of this token are under way'],
  body_too_slow: [408, 'The body did not arrive in time'],
  confirmation_required: [428, 'The operation must be confirmed'],
  confirmation_mismatch: [412, 'The confirmation names another object'],
  reason_required: [400, 'The operation needs a reason'],
  caller_left: [499, 'The caller left, or was cut off by a stop of the exporter'],
  guarded: [409, 'The operation would do more than it seems'],
  already_frozen: [409, 'Changes are frozen already'],
  missing_parameter: [400, 'The query lacks a value'],
  frozen: [423, 'Changes are frozen'],
  break_glass_denied: [403, 'The token may not send this without approval'],
  cannot_wait: [403, 'The operation needs approval, and cannot wait for it'],
  recipe_refused: [409, 'The recipe cannot be carried out'],
  unknown_change: [404, 'No such change'],
  too_many_changes: [429, 'Too many changes are open'],
  too_many_alerts: [429, 'Too many alerts'],
  not_approver: [403, 'The token may not decide on changes'],
  own_change: [403, 'A change is approved by somebody else'],
  change_over: [409, 'The change does not wait any more'],
  digest_mismatch: [412, 'The digest is that of another plan'],
  plan_changed: [409, 'The plan is not what it was'],
  audit_unavailable: [503, 'The journal cannot be written'],
  busy: [503, 'Too many requests for the appliance'],
  spool_unavailable: [503, 'There is no room for a large body'],
  upstream_unauthorized: [502, 'The appliance refused the key of the gateway'],
  upstream_unreachable: [502, 'The appliance cannot be reached'],
  upstream_malformed: [502, 'The appliance did not answer as an appliance does'],
  upstream_redirect: [502, 'The appliance redirected the request'],
  upstream_oversize: [502, 'The answer of the appliance is too large'],
  upstream_timeout: [504, 'The appliance did not answer in time'],
  internal_error: [500, 'The gateway failed'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ProblemCode = keyof typeof problemKinds;

/** The codes in the order of the documentation and the metrics. */
export const problemCodes = Object.keys(problemKinds) as readonly ProblemCode[];

export interface ProblemDetails {
  /** A sentence about this case, without secrets. */
  readonly detail: string;
  /** The next step for the caller. */
  readonly remedy: string;
  /** Replaces the usual status of the code. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional members of the answer. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A refusal of the gateway; the listener sends it as `application/problem+json` (RFC 9457). */
export class AdminProblem extends AdminError {
  override readonly name = 'AdminProblem';
  declare readonly code: ProblemCode;
  declare readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, details: ProblemDetails) {
    const { detail, remedy, status = problemStatus(code), headers = {}, members = {}, cause } = details;
    super(problemKinds[code][1], { detail, remedy, code, status, cause });
    this.headers = headers;
    this.members = members;
  }
}

export function problemStatus(code: ProblemCode): number {
  return problemKinds[code][0];
}

/** Codes of failures that are found before the appliance could change anything. */
const before: readonly string[] = [
  'upstream_unauthorized',
  'upstream_redirect',
  'busy',
  'audit_unavailable',
] satisfies readonly ProblemCode[];

/** Returns true if a call that ends with this code has changed nothing for certain. */
export function neverChanged(code: string): boolean {
  return before.includes(code);
}

/** Returns the end of a request whose caller has left, for the audit. */
export function callerLeft(): AdminProblem {
  return new AdminProblem('caller_left', {
    detail: 'The caller left before the call was sent; nothing was sent.',
    remedy: 'Repeat it if it is still wanted.',
  });
}

export function methodNotAllowed(methods: readonly string[]): AdminProblem {
  return new AdminProblem('method_not_allowed', {
    detail: `The path takes ${methods.join(', ')}; nothing was sent.`,
    remedy: 'Use one of the methods in the Allow header.',
    headers: { allow: methods.join(', ') },
  });
}

/** Returns the problem of a bug; the caller does not learn its message. */
export function internalError(cause: unknown): AdminProblem {
  return new AdminProblem('internal_error', {
    detail: 'The gateway failed.',
    remedy: 'Look into the log of the exporter for the request id.',
    cause,
  });
}

/** Returns the problem of an answer that the API does not have. */
export function strangeAnswer(detail: string, code: ProblemCode = 'upstream_malformed'): AdminProblem {
  const remedy = 'Check the url of the appliance in the configuration: something else may be listening there.';
  return new AdminProblem(code, { detail, remedy });
}

/** `unsent`: no byte of it left; `perhaps`: it may have done its work; `none`: it is a read. */
export type Effect = 'unsent' | 'perhaps' | 'none';

/** Returns the problem for the caller if the appliance gave no answer that can be forwarded. */
export function upstreamProblem(error: unknown, appliance: string, effect: Effect): AdminProblem {
  if (error instanceof AdminProblem) return error;
  if (!(error instanceof ApplianceError)) return internalError(error);
  if (effect === 'unsent') return unsentProblem(error, appliance);
  const isGone = error.reason === 'cancelled';
  return new AdminProblem(codeOfReason[error.reason], {
    detail: isGone ? 'The caller left while the call was under way.' : `${appliance}: ${error.message}.`,
    remedy: effect === 'perhaps' ? `${repeatWithCare} ${remedyOf(error)}` : remedyOf(error),
    cause: error,
  });
}

function unsentProblem(error: ApplianceError, appliance: string): AdminProblem {
  const { reason, message } = error;
  if (reason === 'cancelled') return callerLeft();
  return new AdminProblem(codeOfReason[reason], {
    detail: `${appliance}: ${message}; nothing was sent.`,
    remedy: reason === 'tls' ? remedyOf(error) : checkIt,
    cause: error,
  });
}

const codeOfReason: Readonly<Record<FailureReason, ProblemCode>> = {
  timeout: 'upstream_timeout',
  gateway_timeout: 'upstream_timeout',
  cancelled: 'caller_left',
  tls: 'upstream_unreachable',
  connect: 'upstream_unreachable',
  oversize: 'upstream_oversize',
  unauthorized: 'upstream_unauthorized',
  bad_request: 'upstream_malformed',
  unlicensed: 'upstream_malformed',
  forbidden: 'upstream_malformed',
  not_found: 'upstream_malformed',
  method_not_allowed: 'upstream_malformed',
  unavailable: 'upstream_malformed',
  conflict: 'upstream_malformed',
  gone: 'upstream_malformed',
  server_error: 'upstream_malformed',
  malformed: 'upstream_malformed',
};

const checkIt = 'Check with `zlb-exporter check` that the appliance can be reached and is one.';
const repeatWithCare = 'The appliance may have carried it out: read the object before you repeat the call.';

function remedyOf({ reason }: ApplianceError): string {
  if (reason === 'tls')
    return 'Check tls of the appliance in the configuration; `zlb-exporter fingerprint` prints what it shows.';
  if (reason === 'oversize') return 'Raise admin.download_bytes if such an answer is expected.';
  if (reason === 'timeout') return 'Raise admin.timeout if the appliance is merely slow.';
  return checkIt;
}

/** Refuses the answers that must not reach a caller. */
export function refuseAnswer(status: number, appliance: string): void {
  // The appliance refused our key; the caller's token is valid.
  if (status === 401) {
    throw new AdminProblem('upstream_unauthorized', {
      detail: `${appliance} refused the key of the gateway with 401; nothing was changed.`,
      remedy: 'Check admin_api_key, or api_key where there is none, and that the API user is enabled on the appliance.',
    });
  }
  if (status < 200 || status > 599)
    throw strangeAnswer(`${appliance} answered ${status}, which is not a valid HTTP status.`);
  // The API has no redirects, and a client that follows one would send its token to another host.
  if (status >= 300 && status < 400) {
    const detail = `${appliance} answered ${status} where the API has no such answer; it was not followed.`;
    throw strangeAnswer(detail, 'upstream_redirect');
  }
}
