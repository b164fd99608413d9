import type { IncomingHttpHeaders } from 'node:http';
import type { Format, Representation } from '../metrics/page.ts';

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** What the headers of a request ask for. */
export type Negotiate = (headers: IncomingHttpHeaders) => Representation;

/** More are clients that change their words, of which there is no end. */
const mostKnown = 100;

/** A client says the same each time: it is read once. */
export function createNegotiate(): Negotiate {
  const known = new Map<string, Representation>();
  return ({ accept, 'accept-encoding': acceptEncoding }) => {
    const words = `${accept}\n${acceptEncoding}`;
    const before = known.get(words);
    if (before) return before;
    const form = { format: negotiateFormat(accept), compressed: acceptsGzip(acceptEncoding) };
    if (known.size >= mostKnown) known.clear();
    known.set(words, form);
    return form;
  };
}

/** OpenMetrics 1.0 where the Accept header prefers it, else Prometheus text, which everybody reads. */
export function negotiateFormat(accept: string | undefined): Format {
  const weights = (accept ?? '').split(',').map(parseRange);
  const weightOf = (matches: (range: Range) => boolean): number =>
    Math.max(0, ...weights.filter(matches).map(({ quality }) => quality));
  const openmetrics = weightOf(
    ({ type, version }) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'),
  );
  const text = weightOf(({ type, version }) => type === 'text/plain' && (version === undefined || version === '0.0.4'));
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/** True where the Accept-Encoding header names gzip with a weight above 0. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return (acceptEncoding ?? '')
    .split(',')
    .map(parseRange)
    .some(({ type, quality }) => type === 'gzip' && quality > 0);
}

interface Range {
  readonly type: string;
  readonly version: string | undefined;
  readonly quality: number;
}

function parseRange(text: string): Range {
  const [type = '', ...pairs] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameters = new Map(pairs.map((pair) => pair.split('=', 2) as [string, string]));
  const quality = Number(parameters.get('q') ?? 1);
  return { type, version: parameters.get('version'), quality: Number.isFinite(quality) ? quality : 0 };
}
