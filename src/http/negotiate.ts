import type { IncomingHttpHeaders } from 'node:http';
import type { Encoding, Format, Representation } from '../metrics/page.ts';

export const expositionTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Returns the form that the headers of a request ask for. */
export function negotiate({ accept, 'accept-encoding': acceptEncoding }: IncomingHttpHeaders): Representation {
  return { format: negotiateFormat(accept), encoding: negotiateEncoding(acceptEncoding) };
}

/**
 * OpenMetrics 1.0 where the Accept header prefers it, else Prometheus text, which everybody reads.
 */
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

/**
 * Returns zstd for clients that name it and weigh nothing higher, else gzip for those that name
 * that.
 */
export function negotiateEncoding(acceptEncoding: string | undefined): Encoding {
  const gzip = weightOfCoding(acceptEncoding, 'gzip');
  const zstd = weightOfCoding(acceptEncoding, 'zstd');
  if (zstd > 0 && zstd >= gzip) return 'zstd';
  return gzip > 0 ? 'gzip' : 'identity';
}

/** True where the Accept-Encoding header names gzip with a weight above 0. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return weightOfCoding(acceptEncoding, 'gzip') > 0;
}

function weightOfCoding(acceptEncoding: string | undefined, coding: string): number {
  const ranges = (acceptEncoding ?? '').split(',').map(parseRange);
  return Math.max(0, ...ranges.filter(({ type }) => type === coding).map(({ quality }) => quality));
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
