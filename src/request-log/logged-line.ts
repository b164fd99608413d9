/** A response to a client, as the proxy of an HTTP farm logs it. */
export interface LoggedResponse {
  /** The label `result` of `zlb_request_log_lines_total`. */
  readonly kind: 'answer';
  readonly farm: string;
  /** Empty where the proxy chose none, as `backend`. */
  readonly service: string;
  readonly backend: string;
  /** Three digits; 000 for a request without a response. */
  readonly code: string;
  /** The length of the body; undefined where the line does not have it. */
  readonly bytes: number | undefined;
  /** The duration; undefined where the line has none, or the client determined it. */
  readonly seconds: number | undefined;
  /** True for a failure that the client caused. */
  readonly isClientFault: boolean;
}

/** A request that the web application firewall denied. */
interface LoggedDenial {
  readonly kind: 'denial';
  readonly farm: string;
}

export type LoggedRequest = LoggedResponse | LoggedDenial;

/** The names in a line that the proxy wrote, and that no client can write. */
export type TargetNames = Pick<LoggedResponse, 'farm' | 'service' | 'backend'>;

/**
 * Why a line cannot be counted as a request. `other`: it is about something else. `unreadable`: it
 * has no known form. `ambiguous`: it has two forms, one of which a client wrote.
 */
export type LineFault = 'other' | 'unreadable' | 'ambiguous';

export interface LoggedLine {
  readonly content: LoggedRequest | LineFault;
  /** How many lines it stands for. */
  readonly times: number;
}

/** Returns the farm of a request, and the service and the backend of a response. */
export function targetNames(request: LoggedRequest): readonly string[] {
  return request.kind === 'answer' ? [request.farm, request.service, request.backend] : [request.farm];
}
