import type { LoggedLine } from './logged-line.ts';
import { beginOfTime, readPoundText } from './pound-line.ts';
import { readZproxyText } from './zproxy-line.ts';

const program = String.raw`(?:\S*\/)?(pound|zproxy)`;
const structuredData = String.raw`(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)`;
/** RFC 5424, also with the mark of UTF-8. */
const header5424 = String.raw`1 \S+ \S+ ${program} \S+ \S+ ${structuredData} ?(?:\xef\xbb\xbf)? ?`;
/** RFC 3164 and its relatives: up to four words of time and host, none with a colon at its end. */
const header3164 = String.raw`(?:[A-Z][a-z]{2} [ \d]\d )?(?:\S*[^\s:] ){0,4}${program}(?:\[\d+\])?: ?`;
const header = new RegExp(`^<\\d{1,3}>(?:${header5424}|${header3164})`);
/** Equal lines as rsyslog joins them ($RepeatedMsgReduction), cut to 800 characters. */
const repeated = /^message repeated (\d{1,9}) times: \[ ?([^]*)\]\s*$/;
const repeatedLength = 799;
/** The most lines for which one stands. */
export const maxTimes = 10_000;
/** Marks a line of a proxy, for those with an unknown header. */
const ofProxy = new RegExp(
  String.raw`^(?:pound\b.*(?:${beginOfTime.source}|\([\da-f]+\) e\d{3} )|zproxy\b.*\[f:[\w.-]+\]\[th:)`,
);
/** Within that many bytes is the name of the program, and within as many more what it says. */
const headLength = 200;

/**
 * Reads a line of the system log as `pound` or `zproxy` of these appliances writes it, with one
 * character for each byte. Its forms: docs/request-log.md. Keeps nothing that a client sent.
 */
export function readLine(line: string): LoggedLine {
  const [head, by5424, by3164] = header.exec(line) ?? [];
  if (head === undefined) return { content: isOfProxy(line) ? 'unreadable' : 'other', times: 1 };
  const read = (by5424 ?? by3164) === 'zproxy' ? readZproxyText : readPoundText;
  const text = line.slice(head.length).replace(/\n$/, '');
  const [, count, inner = ''] = repeated.exec(text) ?? [];
  if (count === undefined) return { content: read(text), times: 1 };
  const times = Number(count);
  if (times > maxTimes || inner.length >= repeatedLength)
    return { content: 'unreadable', times: Math.min(times, maxTimes) };
  return { content: read(inner), times };
}

function isOfProxy(line: string): boolean {
  const at = line.search(/\b(?:pound|zproxy)\b/);
  return at >= 0 && at < headLength && ofProxy.test(line.slice(at, at + 2 * headLength));
}
