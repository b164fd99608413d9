import { gunzipSync } from 'node:zlib';
import type { RawAnswer } from '../support/raw-request.ts';
import { type Exchange, recordedHeader, wireBody } from '../support/recordings.ts';
import { shapeDifferences } from '../support/shape.ts';

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
  const [recorded, given] = [recordedText(exchange), answeredText(answer)];
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
  /^(?:description|message|documentation|error(?:414|500|501|503)|date|system_date|cpu|memory|load|network|graphs|start_time|last_time|command|primary)$/;

/** The values that must be the same, as text; lists come in any order (docs/api.md §8). */
function comparable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(comparable).sort().join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([key]) => !unlike.test(key));
  return `{${entries
    .map(([key, inner]) => `${key}:${comparable(inner)}`)
    .sort()
    .join()}}`;
}

function recordedText(exchange: Exchange): string {
  const { headers, body_encoding: encoding } = exchange.response;
  const zipped = recordedHeader(headers, 'content-encoding') === 'gzip' && encoding === 'latin-1';
  return (zipped ? gunzipSync(wireBody(exchange)) : wireBody(exchange)).toString();
}

function answeredText({ headers, body }: RawAnswer): string {
  return (recordedHeader(headers, 'content-encoding') === 'gzip' ? gunzipSync(body) : body).toString();
}
