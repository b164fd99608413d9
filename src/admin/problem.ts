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
  audit_unavailable: [503, 'The audit cannot be written'],
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
  /** What to do now. */
  readonly remedy: string;
  /** Replaces the usual status of the code. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the answer. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A refusal of the gateway; the listener sends it as `application/problem+json` (RFC 9457). */
export class AdminProblem extends Error {
  override readonly name = 'AdminProblem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly title: string;
  readonly remedy: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: ProblemCode, details: ProblemDetails) {
    const { detail, remedy, status = problemStatus(code), headers = {}, members = {}, cause } = details;
    super(detail, { cause });
    this.code = code;
    this.status = status;
    this.title = problemKinds[code][1];
    this.remedy = remedy;
    this.headers = headers;
    this.members = members;
  }
}

export function problemStatus(code: ProblemCode): number {
  return problemKinds[code][0];
}
