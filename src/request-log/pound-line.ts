import type { LineNames, LoggedLine } from './logged-line.ts';

const farmPart = /^([\w.-]+), /;
/** The proxy cuts its own lines at this length, so that a client chooses their end. */
const cutLength = 4_095;

/** The time of a request, which no other line of the proxy has; the user before it has no colon. */
const time = String.raw`\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "`;
const anyTime = new RegExp(time, 'g');
export const beginOfTime = /\[\d\d\/[A-Z][a-z]{2}\/\d{4}:/;
/** Host (at some levels, and never with a blank), address, user, request, status and size. */
const access = new RegExp(
  String.raw`^(?:\S+ )?(?:[\da-f.:]+|\(UNKNOWN\)) - [^:]+ ${time}([\w-]+) \S+ HTTP\/1.[01]" (\d{3}) (\d{1,15}|-) "`,
  'i',
);
/** The route of a request, which is not there after a redirect, and at a lower log level. */
const route = /" \(([^\s()]+) -> ([^\s()]+)\) (\d{1,9}\.\d{1,9}) sec\s*$/;

/** The proxy's own words begin with the number of its thread. */
const ownWords = /^(?:service ([^\s,]+), (?:backend ([^\s,]*), ?)?)?\((?:0x)?[\da-f]+\) /;
const ownAnswer = /^e(\d{3}) ([^]*)$/;
const denial = /^(?:WAF denied a request from |replied by WAF)/;
/** The end of failures; of the others, it may be written by a client. */
const failureTime = /\((\d{1,9}\.\d{1,9}) secs?\)\s*$/;
/** No HTTP, half a head, or an end in the middle of an upload. */
const clientFault =
  /^(?:headers: request URI too long|can't read header|too many headers|for \S+ (?:error copy client cont|copy_chunks) to )/;
/** The error of an upload to a backend that has gone. */
const goneBackend = /: Broken pipe \([\d.]+ sec\)\s*$/;

/** Reads what `pound` wrote: its first words decide, unless a client can have written them. */
export function readPoundText(text: string): LoggedLine['content'] {
  const [head, farm = ''] = farmPart.exec(text) ?? [];
  if (head === undefined) return 'other';
  const message = text.slice(head.length);
  const [own, service = '', backend = ''] = ownWords.exec(message) ?? [];
  const times = message.match(anyTime)?.length ?? 0;
  if (message.length === cutLength) return 'unreadable';
  // Host, address, user, referrer and agent are the words of clients.
  if (times > 1 || (own !== undefined && times > 0)) return 'ambiguous';
  if (own !== undefined) return readOwn({ farm, service, backend }, message.slice(own.length));
  if (times === 1) return readAccess(farm, message);
  return beginOfTime.test(message) ? 'unreadable' : 'other';
}

function readOwn(names: LineNames, text: string): LoggedLine['content'] {
  if (denial.test(text)) return { kind: 'denial', farm: names.farm };
  const [, code, reason = ''] = ownAnswer.exec(text) ?? [];
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

function readAccess(farm: string, message: string): LoggedLine['content'] {
  const [head, verb = '', code = '', bytes = ''] = access.exec(message) ?? [];
  if (head === undefined) return 'unreadable';
  const rest = message.slice(head.length);
  const [found, service = '', backend = '', seconds] = route.exec(rest) ?? [];
  const isWhole = rest.includes('" "') && (found !== undefined || rest.trimEnd().endsWith('"'));
  if (!isWhole) return 'unreadable';
  // These live as long as both sides like: a WebSocket, and a remote desktop.
  const isTunnel = code === '101' || /^RPC_/i.test(verb);
  return {
    kind: 'answer',
    farm,
    service: service === '-' ? '' : service,
    backend,
    code,
    // Without an answer, it is the size of the request.
    bytes: code === '000' ? undefined : Number(bytes === '-' ? 0 : bytes),
    seconds: isTunnel || seconds === undefined ? undefined : Number(seconds),
    isClientFault: false,
  };
}
