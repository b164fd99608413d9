import type { LoggedLine } from './logged-line.ts';
import { beginOfTime, readPoundText } from './pound-line.ts';
import { readZproxyText } from './zproxy-line.ts';

const program = String.raw`(?:\S*\/)?(pound|zproxy)`;
const structuredData = String.raw`(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)`;
/** RFC 5424, also with a byte order mark. */
const header5424 = String.raw`1 \S+ \S+ ${program} \S+ \S+ ${structuredData} ?(?:\xef\xbb\xbf)? ?`;
/** RFC 3164 and similar forms: up to four words of time and host, none of which ends with a colon. */
const header3164 = String.raw`(?:[A-Z][a-z]{2} [ \d]\d )?(?:\S*[^\s:] ){0,4}${program}(?:\[\d+\])?: ?`;
const header = new RegExp(`^<\\d{1,3}>(?:${header5424}|${header3164})`);
/** Matches equal lines that rsyslog joined ($RepeatedMsgReduction) and cut to 800 characters. */
const repeated = /^message repeated (\d{1,9}) times: \[ ?([^]*)\]\s*$/;
const repeatedLength = 799;
/** The most lines that one line may stand for. */
export const maxTimes = 10_000;
/** Recognizes a line of a proxy below an unknown header. */
const ofProxy = new RegExp(
  String.raw`^(?:pound\b.*(?:${beginOfTime.source}|\([\da-f]+\) e\d{3} )|zproxy\b.*\[f:[\w.-]+\]\[th:)`,
);
/** The name of the program is searched for in so many bytes, and its message in as many after it. */
const headLength = 200;

/**
 * Parses a line of the system log of `pound` or `zproxy`, with one character for each byte.
 * docs/request-log.md has its forms. Keeps nothing that a client sent.
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
