import type { TargetNames, LoggedLine } from './logged-line.ts';

const farmPart = /^([\w.-]+), /;
/** The proxy cuts its lines at this length, so that a client can choose where they end. */
const cutLength = 4_095;

/** Matches the time, which only lines about a request have; the user before it has no colon. */
const time = String.raw`\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "`;
const anyTime = new RegExp(time, 'g');
export const beginOfTime = /\[\d\d\/[A-Z][a-z]{2}\/\d{4}:/;
/** Matches host (only at some log levels, without a blank), address, user, request, status and size. */
const accessLine = new RegExp(
  String.raw`^(?:\S+ )?(?:[\da-f.:]+|\(UNKNOWN\)) - [^:]+ ${time}([\w-]+) \S+ HTTP\/1\.[01]" (\d{3}) (\d{1,15}|-) "`,
  'i',
);
/** Matches service, backend and duration, which are missing after a redirect and at a lower log level. */
const route = /" \(([^\s()]+) -> ([^\s()]+)\) (\d{1,9}\.\d{1,9}) sec\s*$/;

/** Messages of the proxy itself begin with the number of its thread. */
const proxyPrefix = /^(?:service ([^\s,]+), (?:backend ([^\s,]*), ?)?)?\((?:0x)?[\da-f]+\) /;
const errorResponse = /^e(\d{3}) ([^]*)$/;
const denial = /^(?:WAF denied a request from |replied by WAF)/;
/** Matches the duration at the end of a failure; in other messages, a client may have written it. */
const failureTime = /\((\d{1,9}\.\d{1,9}) secs?\)\s*$/;
/** Matches a request that is not HTTP, has half a head, or ends in the middle of an upload. */
const clientFault =
  /^(?:headers: request URI too long|can't read header|too many headers|for \S+ (?:error copy client cont|copy_chunks) to )/;
/** Matches the error of an upload to a backend that closed the connection. */
const goneBackend = /: Broken pipe \([\d.]+ sec\)\s*$/;

/** Reads a line of `pound`. Its first words decide, unless a client can have written them. */
export function readPoundText(text: string): LoggedLine['content'] {
  const [head, farm = ''] = farmPart.exec(text) ?? [];
  if (head === undefined) return 'other';
  const message = text.slice(head.length);
  const [prefix, service = '', backend = ''] = proxyPrefix.exec(message) ?? [];
  const times = message.match(anyTime)?.length ?? 0;
  if (message.length === cutLength) return 'unreadable';
  // Host, address, user, referrer and agent are the words of clients.
  if (times > 1 || (prefix !== undefined && times > 0)) return 'ambiguous';
  if (prefix !== undefined) return readProxyMessage({ farm, service, backend }, message.slice(prefix.length));
  if (times === 1) return readAccessLine(farm, message);
  return beginOfTime.test(message) ? 'unreadable' : 'other';
}

function readProxyMessage(names: TargetNames, text: string): LoggedLine['content'] {
  if (denial.test(text)) return { kind: 'denial', farm: names.farm };
  const [, code, reason = ''] = errorResponse.exec(text) ?? [];
  if (code === undefined) return 'other';
  const isClientFault = code === '501' || (clientFault.test(reason) && !goneBackend.test(reason));
  const seconds = code === '500' && !isClientFault ? failureTime.exec(reason)?.[1] : undefined;
  return {
    kind: 'answer',
    ...names,
    code,
    bytes: undefined,
    seconds: seconds === undefined ? undefined : Number(seconds),
    isClientFault,
  };
}

function readAccessLine(farm: string, message: string): LoggedLine['content'] {
  const [head, verb = '', code = '', bytes = ''] = accessLine.exec(message) ?? [];
  if (head === undefined) return 'unreadable';
  const rest = message.slice(head.length);
  const [found, service = '', backend = '', seconds] = route.exec(rest) ?? [];
  const isWhole = rest.includes('" "') && (found !== undefined || rest.trimEnd().endsWith('"'));
  if (!isWhole) return 'unreadable';
  // A WebSocket or a remote desktop, whose duration says nothing of the backend.
  const isTunnel = code === '101' || /^RPC_/i.test(verb);
  return {
    kind: 'answer',
    farm,
    service: service === '-' ? '' : service,
    backend,
    code,
    // Without a response, it is the size of the request.
    bytes: code === '000' ? undefined : Number(bytes === '-' ? 0 : bytes),
    seconds: isTunnel || seconds === undefined ? undefined : Number(seconds),
    isClientFault: false,
  };
}
