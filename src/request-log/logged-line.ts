/** An answer to a client, as the proxy of an HTTP farm logs it. */
export interface LoggedAnswer {
  readonly kind: 'answer';
  readonly farm: string;
  /** Empty where the proxy had chosen none. */
  readonly service: string;
  readonly backend: string;
  /** Three digits; 000 for a request without an answer. */
  readonly code: string;
  /** Undefined where the line has none, or one that is not of an answer. */
  readonly bytes: number | undefined;
  /** Undefined where the line has no time, or the client made it. */
  readonly seconds: number | undefined;
  /** True for a failure that the client caused. */
  readonly isClientFault: boolean;
}

/** A request that the web application firewall denied. */
interface LoggedDenial {
  readonly kind: 'denial';
  readonly farm: string;
}

export type LoggedRequest = LoggedAnswer | LoggedDenial;

/** What the proxy itself wrote of an answer, which no client can write. */
export type LineNames = Pick<LoggedAnswer, 'farm' | 'service' | 'backend'>;

/**
 * Reasons for which a line says nothing of a request: `other` is about something else, `unreadable`
 * is about a request and has no known form, and an `ambiguous` one has two, of which a client wrote
 * one.
 */
export type LineFault = 'other' | 'unreadable' | 'ambiguous';

export interface LoggedLine {
  readonly content: LoggedRequest | LineFault;
  /** How many lines it stands for. */
  readonly times: number;
}
