import type { LineFault, LineNames, LoggedAnswer } from './logged-line.ts';

/**
 * The proxy's own words, which come first: farm, thread, state, service, backend and client. A
 * client cannot write any of them.
 */
const head =
  /^\[f:([\w.-]+)\]\[th:[\da-f]+\] \[st:\d+\]\[svc:([^\s[\]]+)\]\[bk:([^\s[\]]+)\]\[cl:[\da-f.:]+\] ?(?:\((\w+)\) )?/;
/** Between the request, whose version it cuts, and the status; each answer has it once. */
const between = '" "HTTP/1.';
const request = /HTTP\/1(?:\.[01])?$/;
const headRequest = /^host:\S* - "HEAD /;
/** Status and size, and the begin of the referrer. */
const status = /^[01] (\d{3})(?: [^"]*)?" (\d{1,15}) "/;
const failed = /^e(\d{3}) /;

/**
 * Reads what zproxy of ZEVENET wrote about a request at its LogLevel 6 (docs/request-log.md). It
 * says nothing of durations.
 */
export function readZproxyText(text: string): LoggedAnswer | LineFault {
  const [words, farm = '', service = '', backend = '', form] = head.exec(text) ?? [];
  if (words === undefined || form === undefined) return 'other';
  const names = { farm, service: service === '-' ? '' : service, backend: backend === '-' ? '' : backend };
  const rest = text.slice(words.length);
  switch (form) {
    case 'established':
      return readEstablished(names, rest);
    // It redirects with 302 by default, and says no code.
    case 'responded':
      return answerOf(names, '302', undefined);
    case 'error': {
      const code = failed.exec(rest)?.[1];
      return code === undefined ? 'unreadable' : answerOf(names, code, undefined);
    }
    default:
      return 'unreadable';
  }
}

function readEstablished(names: LineNames, rest: string): LoggedAnswer | LineFault {
  const at = rest.indexOf(between);
  // Host, address, referrer and agent are the words of clients, and not escaped.
  if (at !== rest.lastIndexOf(between)) return 'ambiguous';
  const tail = at < 0 ? '' : rest.slice(at + between.length);
  const [found, code = '', bytes] = status.exec(tail) ?? [];
  const ofClient = tail.slice(found?.length).trimEnd();
  const isWhole = rest.startsWith('host:') && request.test(rest.slice(0, Math.max(at, 0)));
  if (found === undefined || !isWhole || !(ofClient.includes('" "') && ofClient.endsWith('"'))) return 'unreadable';
  // It is the length that the head of the answer says.
  return answerOf(names, code, headRequest.test(rest) ? undefined : Number(bytes));
}

function answerOf(names: LineNames, code: string, bytes: number | undefined): LoggedAnswer {
  return { kind: 'answer', ...names, code, bytes, seconds: undefined, isClientFault: code.startsWith('4') };
}
