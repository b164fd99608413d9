import { gunzipSync } from 'node:zlib';
import type { RawAnswer } from '../support/raw-request.ts';
import { type Exchange, recordedHeader, textOf } from '../support/recordings.ts';

type Headers = Exchange['response']['headers'];

/**
 * Returns the differences of a recorded answer and the simulator's: status, names of headers,
 * content type, shape, values.
 */
export function differences(exchange: Exchange, answer: RawAnswer): readonly string[] {
  const { response } = exchange;
  const type = recordedHeader(answer.headers, 'content-type');
  if (answer.status !== response.status) return [`status ${answer.status}, recorded ${response.status}`];
  if (type !== recordedHeader(response.headers, 'content-type')) return [`content type ${type}`];
  const [recorded, given] = [textOf(exchange), answeredText(answer)];
  if ((recorded === '') !== (given === '')) return ['one body is empty'];
  const json = type === 'application/json' && recorded !== '';
  const inBody = json ? bodyDifferences(JSON.parse(recorded), JSON.parse(given)) : [];
  return [...headerDifferences(response.headers, answer.headers), ...inBody];
}

function bodyDifferences(recorded: unknown, given: unknown): readonly string[] {
  const inShape = shapeDifferences(recorded, given);
  if (inShape.length > 0) return inShape;
  const [wanted, found] = [comparable(recorded), comparable(given)];
  return wanted === found ? [] : [`values ${found}, recorded ${wanted}`];
}

/**
 * The shape of a JSON value as a set of `path: type`; the elements of a list are taken together.
 * Two values have the same shape when the sets are equal.
 */
function shapeOf(value: unknown, path = ''): Set<string> {
  if (Array.isArray(value)) {
    const items = value.flatMap((item) => [...shapeOf(item, `${path}[]`)]);
    return new Set(items.length === 0 ? [`${path}: empty list`] : items);
  }
  if (typeof value !== 'object' || value === null)
    return new Set([`${path}: ${value === null ? 'null' : typeof value}`]);
  const entries = Object.entries(value).flatMap(([key, inner]) => [...shapeOf(inner, `${path}.${key}`)]);
  return new Set(entries.length === 0 ? [`${path}: empty object`] : entries);
}

/** Returns the differences of two shapes, in both directions. */
function shapeDifferences(expected: unknown, actual: unknown): readonly string[] {
  const [wanted, given] = [shapeOf(expected), shapeOf(actual)];
  return [
    ...[...wanted].filter((line) => !given.has(line)).map((line) => `lacks ${line}`),
    ...[...given].filter((line) => !wanted.has(line)).map((line) => `adds ${line}`),
  ];
}

function headerDifferences(recorded: Headers, given: Headers): readonly string[] {
  // How the length travels is the transport's business.
  const names = (headers: Headers) =>
    headers
      .map(([name]) => name)
      .filter((name) => !/^(?:content-length|transfer-encoding)$/i.test(name))
      .sort()
      .join(' ');
  return names(recorded) === names(given) ? [] : [`headers ${names(given)}, recorded ${names(recorded)}`];
}

// Sentences are ours, figures move, and the address of a name server and the commands of checks are
// made up.
const unlike =
  /^(?:description|message|warning|documentation|error(?:414|500|501|503)|date|system_date|cpu|memory|load|network|graphs|start_time|last_time|command|primary)$/;

/** The values that must be the same, as text; lists come in any order (docs/api.md §8). */
function comparable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(comparable).sort().join()}]`;
  // The time that is left to a session.
  if (typeof value === 'string' && /^\d+m\d+s\d+ms$/.test(value)) return 'a time';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([key]) => !unlike.test(key));
  return `{${entries
    .map(([key, inner]) => `${key}:${comparable(inner)}`)
    .sort()
    .join()}}`;
}

function answeredText({ headers, body }: RawAnswer): string {
  return (recordedHeader(headers, 'content-encoding') === 'gzip' ? gunzipSync(body) : body).toString();
}
