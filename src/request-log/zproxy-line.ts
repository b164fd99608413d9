import type { LineFault, TargetNames, LoggedResponse } from './logged-line.ts';

/** Matches farm, thread, state, service, backend and address, none of which a client can write. */
const head =
  /^\[f:([\w.-]+)\]\[th:[\da-f]+\] \[st:\d+\]\[svc:([^\s[\]]+)\]\[bk:([^\s[\]]+)\]\[cl:[\da-f.:]+\] ?(?:\((\w+)\) )?/;
/** Stands once in each line, between the request, whose version it cuts, and the status. */
const between = '" "HTTP/1.';
const request = /HTTP\/1(?:\.[01])?$/;
const headRequest = /^host:\S* - "HEAD /;
/** Matches status and size, and the beginning of the referrer. */
const status = /^[01] (\d{3})(?: [^"]*)?" (\d{1,15}) "/;
const failed = /^e(\d{3}) /;

/**
 * Reads a line of ZEVENET's zproxy about a request, at its LogLevel 6 (docs/request-log.md). It has
 * no durations.
 */
export function readZproxyText(text: string): LoggedResponse | LineFault {
  const [words, farm = '', service = '', backend = '', form] = head.exec(text) ?? [];
  if (words === undefined || form === undefined) return 'other';
  const names = { farm, service: service === '-' ? '' : service, backend: backend === '-' ? '' : backend };
  const rest = text.slice(words.length);
  switch (form) {
    case 'established':
      return readEstablished(names, rest);
    // The line has no status; by default, the proxy redirects with 302.
    case 'responded':
      return responseOf(names, '302', undefined);
    case 'error': {
      const code = failed.exec(rest)?.[1];
      return code === undefined ? 'unreadable' : responseOf(names, code, undefined);
    }
    default:
      return 'unreadable';
  }
}

function readEstablished(names: TargetNames, rest: string): LoggedResponse | LineFault {
  const at = rest.indexOf(between);
  // Host, address, referrer and agent are the words of clients, and not escaped.
  if (at !== rest.lastIndexOf(between)) return 'ambiguous';
  const tail = at < 0 ? '' : rest.slice(at + between.length);
  const [found, code = '', bytes] = status.exec(tail) ?? [];
  const ofClient = tail.slice(found?.length).trimEnd();
  const isWhole = rest.startsWith('host:') && request.test(rest.slice(0, Math.max(at, 0)));
  if (found === undefined || !isWhole || !(ofClient.includes('" "') && ofClient.endsWith('"'))) return 'unreadable';
  // The size is the Content-Length of the response.
  return responseOf(names, code, headRequest.test(rest) ? undefined : Number(bytes));
}

function responseOf(names: TargetNames, code: string, bytes: number | undefined): LoggedResponse {
  return { kind: 'answer', ...names, code, bytes, seconds: undefined, isClientFault: code.startsWith('4') };
}
