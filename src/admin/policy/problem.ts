import { ApplianceError, type FailureReason } from '../../appliance/errors.ts';
import { AdminError } from './admin-error.ts';

const repeatWith = (name: string) =>
  `If you are sure, repeat it with the header X-Confirm: ${encodeURIComponent(name)}.`;
const checkUrl = 'Check the url of the appliance in the configuration: something else may be listening there.';
const checkIt = 'Check with `zlb-exporter check` that the appliance can be reached and is one.';

/**
 * All refusals of the gateway itself: stable code, HTTP status, title and the next step, which may
 * depend on the case.
 */
const refusals = {
  unauthenticated: [
    401,
    'No valid token',
    'Send Authorization: Bearer TOKEN, or the token in ZAPI_KEY; `zlb-exporter token` makes one.',
  ],
  token_expired: [
    401,
    'The token has expired',
    'Make a new one with `zlb-exporter token`, and put its digest into admin.tokens.',
  ],
  token_in_url: [
    400,
    'A token must not be part of a URL',
    'Send it in the header Authorization: Bearer TOKEN, and replace the one that was in the URL.',
  ],
  too_many_failures: [
    429,
    'Too many wrong tokens',
    'Check the token of the client; a request with a valid one is answered all the time.',
  ],
  cross_origin: [
    403,
    'Requests from other web pages are refused',
    'Use the page under /docs of this listener, or a client that is not a web page.',
  ],
  role_too_low: [
    403,
    'The role does not allow this operation',
    (role: string) => `Use a token with the role ${role || 'that may'}, or change admin.tokens in the configuration.`,
  ],
  operation_denied: [
    403,
    'The token does not allow this operation',
    'Use another token, or change admin.tokens in the configuration.',
  ],
  appliance_denied: [
    403,
    'The token does not cover this appliance',
    'GET /appliances lists those that it covers; admin.tokens in the configuration says which they are.',
  ],
  unknown_appliance: [404, 'No such appliance', 'GET /appliances lists the names.'],
  appliance_not_named: [
    404,
    'The path does not say which appliance',
    'Use /appliances/NAME/…, or a token whose `appliances` names exactly one.',
  ],
  unknown_path: [
    404,
    'No such operation',
    'See GET /docs for all operations; trailing slashes and empty segments are part of a path.',
  ],
  unsafe_path: [
    400,
    'The path is not acceptable',
    'Write each name once, percent-encoded where needed, with single slashes between and none at the end.',
  ],
  path_too_long: [414, 'The path is too long', 'Check what the client puts into the path; names are short.'],
  method_not_allowed: [405, 'The path has no such operation', 'Use one of the methods in the Allow header.'],
  malformed_request: [
    400,
    'The request is malformed',
    'Check how the client writes its request, and which proxies are between.',
  ],
  malformed_header: [400, 'A header is malformed', 'Check what the client puts into its headers.'],
  body_not_allowed: [
    400,
    'The operation takes no body',
    'Send the request without a body, Content-Length and Transfer-Encoding.',
  ],
  malformed_body: [400, 'The body cannot be read', 'GET /docs shows what the path takes.'],
  wrong_content_type: [
    415,
    'The content type is not the one of the operation',
    (type: string) => `Send the header Content-Type: ${type}.`,
  ],
  length_required: [411, 'The length of the body must be known', 'Send the file with a Content-Length, not in chunks.'],
  body_too_large: [413, 'The body is too large', 'Check what is sent: settings and certificates are far smaller.'],
  too_many_bodies: [
    429,
    'Too many bodies are under way',
    'Send fewer at a time, and look for clients that stop in the middle of a body, or do not read an answer.',
  ],
  too_many_bytes: [
    429,
    'Too much was sent with this token',
    'Wait, and look for a client that repeats itself. For alerts, raise group_interval of their route.',
  ],
  body_too_slow: [
    408,
    'The body did not arrive in time',
    'Check the connection of the client, or send it from a machine with a better one.',
  ],
  confirmation_required: [428, 'The operation must be confirmed', repeatWith],
  confirmation_mismatch: [412, 'The confirmation names another object', repeatWith],
  reason_required: [400, 'The operation needs a reason', 'Add the header X-Reason with a sentence.'],
  caller_left: [499, 'The caller disconnected, or the exporter stopped', 'Repeat it if it is still wanted.'],
  guarded: [
    409,
    'A guard refused the operation',
    (remedies: string) => `${remedies} To do it nevertheless, add X-Force: true and X-Reason.`,
  ],
  already_frozen: [
    409,
    'Changes are frozen already',
    'The freeze stays in effect. To freeze for another reason, lift it first with DELETE /freeze.',
  ],
  missing_parameter: [400, 'The query lacks a value', 'Add it to the query, such as &farmname=shop.'],
  frozen: [423, 'Changes are frozen', 'Reads still work. An admin lifts it with DELETE /freeze.'],
  break_glass_denied: [
    403,
    'The token may not send this without approval',
    'Leave X-Break-Glass out to ask for approval, or use a token with break_glass: true.',
  ],
  cannot_wait: [
    403,
    'The operation needs approval, and cannot wait for it',
    'Use a token with break_glass: true and X-Break-Glass: true, or the web interface of the appliance.',
  ],
  recipe_refused: [409, 'The recipe cannot be carried out', (remedy: string) => remedy],
  unknown_change: [404, 'No such change', 'GET /changes lists those that it covers; old ones are removed.'],
  too_many_changes: [
    429,
    'Too many changes are open',
    'Cancel those that are not wanted any more, or wait until they are decided.',
  ],
  too_many_alerts: [
    429,
    'Too many alerts',
    'Alertmanager posts them again. Look what fires so often, or raise group_interval of its route.',
  ],
  not_approver: [
    403,
    'The token may not decide on changes',
    'Ask somebody whose token has approver: true in admin.tokens.',
  ],
  own_change: [
    403,
    'Somebody else must approve the change',
    'Ask another approver. admin.approvals.self_approval is for one administrator alone.',
  ],
  change_over: [
    409,
    'The change no longer waits for a decision',
    (id: string) => `GET /changes/${id} shows what became of it.`,
  ],
  digest_mismatch: [
    412,
    'The digest is that of another plan',
    'Read the change again, look at its plan, and approve that one.',
  ],
  plan_changed: [409, 'The plan has changed', 'Look at the new plan, and approve that one.'],
  audit_unavailable: [
    503,
    'The journal cannot be used',
    'Look at the disk and the rights of admin.journal_file; `zlb-exporter audit verify FILE` tells if it is damaged.',
  ],
  busy: [
    503,
    'Too many requests for the appliance',
    'Wait, and send fewer at a time: each starts a process on the appliance.',
  ],
  upstream_unauthorized: [
    502,
    'The appliance refused the key of the gateway',
    'Check admin_api_key, or api_key where there is none, and that the API user is enabled on the appliance.',
  ],
  upstream_unreachable: [502, 'The appliance cannot be reached', checkIt],
  upstream_malformed: [502, 'The appliance sent an unexpected response', checkIt],
  upstream_redirect: [502, 'The appliance redirected the request', checkUrl],
  upstream_oversize: [
    502,
    'The answer of the appliance is too large',
    'Raise admin.download_bytes if such an answer is expected.',
  ],
  upstream_timeout: [
    504,
    'The appliance did not answer in time',
    'Raise admin.timeout if the appliance is merely slow.',
  ],
  l4_cut: [
    502,
    'The call was carried out, and L4 farms refuse connections since',
    'Restart each L4 farm, whatever the appliance says of it.',
  ],
  internal_error: [500, 'The gateway failed', 'Look for the request id in the log of the exporter.'],
} as const satisfies Record<
  string,
  readonly [status: number, title: string, remedy: string | ((value: string) => string)]
>;

export type ProblemCode = keyof typeof refusals;

/** The codes in the order of the documentation and the metrics. */
export const problemCodes = Object.keys(refusals) as readonly ProblemCode[];

export interface ProblemDetails {
  /** A sentence about this case, without secrets. */
  readonly detail: string;
  /** The text that the remedy of the code has in it. */
  readonly remedyValue?: string | undefined;
  /** Replaces the usual remedy of the code. */
  readonly remedy?: string;
  /** Replaces the usual status of the code. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional members of the response. */
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
    const {
      detail,
      remedyValue,
      remedy = usualRemedy(code, remedyValue),
      status = problemStatus(code),
      cause,
    } = details;
    super(refusals[code][1], { detail, remedy, code, status, cause });
    const { headers = {}, members = {} } = details;
    this.headers = headers;
    this.members = members;
  }
}

export function problemStatus(code: ProblemCode): number {
  return refusals[code][0];
}

function usualRemedy(code: ProblemCode, value = ''): string {
  const [, , remedy] = refusals[code];
  return typeof remedy === 'string' ? remedy : remedy(value);
}

/** Codes of failures that are found before the appliance could change anything. */
const unchangedCodes: readonly string[] = [
  'upstream_unauthorized',
  'upstream_redirect',
  'busy',
  'audit_unavailable',
] satisfies readonly ProblemCode[];

/** Returns true if a call that ends with this code has changed nothing for certain. */
export function neverChanged(code: string): boolean {
  return unchangedCodes.includes(code);
}

export function callerLeft(): AdminProblem {
  return new AdminProblem('caller_left', { detail: 'The caller left before the call was sent; nothing was sent.' });
}

export function methodNotAllowed(methods: readonly string[]): AdminProblem {
  return new AdminProblem('method_not_allowed', {
    detail: `The path takes ${methods.join(', ')}; nothing was sent.`,
    headers: { allow: methods.join(', ') },
  });
}

export function unknownPath(): AdminProblem {
  return new AdminProblem('unknown_path', {
    detail: 'The gateway has no such path; nothing was sent.',
    remedy: 'The API of an appliance is under /appliances/NAME/…, such as /appliances/NAME/farms; see GET /docs.',
  });
}

export function malformedBody(because: string): AdminProblem {
  return new AdminProblem('malformed_body', { detail: `${because}; nothing was sent.` });
}

/** Returns the problem of a bug; the caller does not learn its message. */
export function internalError(cause: unknown): AdminProblem {
  return new AdminProblem('internal_error', { detail: 'The gateway failed.', cause });
}

/** `unsent`: no byte of it left; `perhaps`: it may have done its work; `read`: it changes nothing. */
export type Effect = 'unsent' | 'perhaps' | 'read';

/** Returns the problem for the caller if the appliance gave no response that can be forwarded. */
export function upstreamProblem(error: unknown, appliance: string, effect: Effect): AdminProblem {
  if (error instanceof AdminProblem) return error;
  if (!(error instanceof ApplianceError)) return internalError(error);
  const { reason, message } = error;
  const isUnsent = effect === 'unsent';
  if (reason === 'cancelled' && isUnsent) return callerLeft();
  const code = codeOfReason[reason] ?? 'upstream_malformed';
  const usual = isUnsent ? checkIt : usualRemedy(code);
  const remedy = reason === 'tls' ? checkTls : usual;
  return new AdminProblem(code, {
    detail:
      code === 'caller_left'
        ? 'The caller left while the call was under way.'
        : `${appliance}: ${message}${isUnsent ? '; nothing was sent' : ''}.`,
    remedy: effect === 'perhaps' ? `${repeatWithCare} ${remedy}` : remedy,
    cause: error,
  });
}

/** Has the failures without a response of the API; all others are `upstream_malformed`. */
const codeOfReason: Partial<Readonly<Record<FailureReason, ProblemCode>>> = {
  timeout: 'upstream_timeout',
  gateway_timeout: 'upstream_timeout',
  cancelled: 'caller_left',
  tls: 'upstream_unreachable',
  connect: 'upstream_unreachable',
  oversize: 'upstream_oversize',
  unauthorized: 'upstream_unauthorized',
};

export const repeatWithCare = 'The appliance may have carried it out: read the object before you repeat the call.';

const checkTls = 'Check tls of the appliance in the configuration; `zlb-exporter fingerprint` prints what it shows.';

/** Refuses the responses that must not reach a caller. */
export function assertForwardable(status: number, appliance: string): void {
  // The appliance refused our key; the caller's token is valid.
  if (status === 401) {
    throw new AdminProblem('upstream_unauthorized', {
      detail: `${appliance} refused the key of the gateway with 401; nothing was changed.`,
    });
  }
  if (status < 200 || status > 599) {
    const detail = `${appliance} answered ${status}, which is not a valid HTTP status.`;
    throw new AdminProblem('upstream_malformed', { detail });
  }
  // The API has no redirects, and a client that follows one would send its token to another host.
  if (status >= 300 && status < 400) {
    const detail = `${appliance} answered ${status} where the API has no such answer; it was not followed.`;
    throw new AdminProblem('upstream_redirect', { detail });
  }
}
