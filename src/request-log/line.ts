/** An answer to a client, as the proxy of an HTTP farm logs it. */
export interface LoggedAnswer {
  readonly kind: 'answer';
  readonly farm: string;
  /** Empty where the proxy had chosen none. */
  readonly service: string;
  readonly backend: string;
  /** Three digits. */
  readonly code: string;
  /** Undefined for an answer that the proxy gave itself: it logs neither size nor time. */
  readonly bytes: number | undefined;
  readonly seconds: number | undefined;
}

/** A request that the web application firewall denied. */
export interface LoggedDenial {
  readonly kind: 'denial';
  readonly farm: string;
}

/**
 * Reasons for which a line says nothing of a request: `other` is about something else, `unreadable`
 * is cut off, and in an `ambiguous` one the client has written what looks like a status.
 */
export type LineFault = 'other' | 'unreadable' | 'ambiguous';

/** The header of RFC 3164, also with a time of RFC 3339, or of RFC 5424; then the farm. */
const header =
  /^<\d{1,3}>(?:1 \S+ \S+ pound \S+ \S+ (?:-|\[[^\]]*\]) (?:\xef\xbb\xbf)? ?|(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\S+) \S+ pound(?:\[\d+\])?: ?)([\w.-]+), /;
/** The time of a request, which no other line of the proxy has. */
const requestTime = / \[\d\d\/[A-Z][a-z]{2}\/\d{4}:/;
/** The end of the request, with status and size of the answer; longer numbers are no real ones. */
const answerPart = / HTTP\/\d(?:\.\d)?" (\d{3}) (\d{1,15}|-) "/;
const backendPart = /" \(([^\s()]+) -> ([^\s()]+)\) (\d{1,9}\.\d{1,9}) sec\s*$/;
/** An answer of the proxy itself, or a denial, which follow the number of its thread. */
const ownAnswer =
  /^(?:service ([^\s,]+), (?:backend ([^\s,]+), ?)?)?\((?:0x)?[\da-f]+\) (?:e(\d{3}) |(WAF denied a request from |replied by WAF))/;

/**
 * Reads a line of the system log as `pound` of these appliances writes it, with one character for
 * each byte. Its form: docs/request-log.md. Keeps nothing that a client sent.
 */
export function readLine(line: string): LoggedAnswer | LoggedDenial | LineFault {
  const [head, farm = ''] = header.exec(line) ?? [];
  if (head === undefined) return 'other';
  const message = line.slice(head.length);
  if (requestTime.test(message)) return readRequest(farm, message);
  const [, service = '', backend = '', code, denial] = ownAnswer.exec(message) ?? [];
  if (denial !== undefined) return { kind: 'denial', farm };
  if (code === undefined) return 'other';
  return { kind: 'answer', farm, service, backend, code, bytes: undefined, seconds: undefined };
}

function readRequest(farm: string, message: string): LoggedAnswer | LineFault {
  const answer = answerPart.exec(message);
  const [, service, backend, seconds] = backendPart.exec(message) ?? [];
  if (answer === null || service === undefined || backend === undefined) return 'unreadable';
  // Host, address, referrer and agent are the words of clients.
  if (answerPart.test(message.slice(answer.index + 1))) return 'ambiguous';
  const [, code = '', bytes] = answer;
  return {
    kind: 'answer',
    farm,
    service: service === '-' ? '' : service,
    backend,
    code,
    bytes: bytes === '-' ? 0 : Number(bytes),
    seconds: Number(seconds),
  };
}
