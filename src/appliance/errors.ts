/**
 * Every way in which a call to an appliance can fail; also the `reason` label of the error
 * counters.
 */
export const failureReasons = [
  'timeout',
  'connect',
  'tls',
  'bad_request',
  'unauthorized',
  'unlicensed',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'unavailable',
  'conflict',
  'gone',
  'server_error',
  'gateway_timeout',
  'malformed',
  'oversize',
  'cancelled',
] as const;

export type FailureReason = (typeof failureReasons)[number];

/**
 * The one error of a failed call. Callers switch on `reason`; the message is for people and holds
 * no secret.
 */
export class ApplianceError extends Error {
  override readonly name = 'ApplianceError';
  readonly reason: FailureReason;
  /** The route template of the call. */
  readonly endpoint: string;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /**
   * True when the API itself said that the path or object does not exist, not a web server in front
   * of it.
   */
  readonly routeMissing: boolean;

  constructor(
    reason: FailureReason,
    parts: { endpoint: string; message: string; status?: number; routeMissing?: boolean },
  ) {
    super(parts.message);
    this.reason = reason;
    this.endpoint = parts.endpoint;
    this.status = parts.status;
    this.routeMissing = parts.routeMissing ?? false;
  }
}

/**
 * Returns the reason for a status (docs/api.md §1.5). A redirect is `malformed`: the API has none,
 * and following one would send the key to another host.
 */
export function reasonOfStatus(status: number): FailureReason {
  switch (status) {
    case 401:
      return 'unauthorized';
    case 402:
      return 'unlicensed';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 405:
      return 'method_not_allowed';
    case 406:
    case 429:
    case 503:
      return 'unavailable';
    case 409:
      return 'conflict';
    case 410:
      return 'gone';
    case 504:
      return 'gateway_timeout';
    default:
      if (status >= 500) return 'server_error';
      return status >= 400 ? 'bad_request' : 'malformed';
  }
}
