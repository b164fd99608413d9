import type { IncomingHttpHeaders } from 'node:http';
import { parseAccept, weightOf, weightOfCoding } from '../lib/http.ts';
import type { Encoding, Format, Representation } from '../metrics/exposition.ts';

export const expositionTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

export function negotiate({ accept, 'accept-encoding': acceptEncoding }: IncomingHttpHeaders): Representation {
  return { format: negotiateFormat(accept), encoding: negotiateEncoding(acceptEncoding) };
}

/**
 * OpenMetrics 1.0 where the Accept header prefers it, else Prometheus text, which everybody reads.
 */
export function negotiateFormat(accept: string | undefined): Format {
  const ranges = parseAccept(accept);
  const openmetrics = weightOf(
    ranges,
    ({ type, version }) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'),
  );
  const text = weightOf(
    ranges,
    ({ type, version }) => type === 'text/plain' && (version === undefined || version === '0.0.4'),
  );
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

/** Returns zstd for clients that name it and weigh nothing higher, else gzip if they name that. */
export function negotiateEncoding(acceptEncoding: string | undefined): Encoding {
  const gzip = weightOfCoding(acceptEncoding, 'gzip');
  const zstd = weightOfCoding(acceptEncoding, 'zstd');
  if (zstd > 0 && zstd >= gzip) return 'zstd';
  return gzip > 0 ? 'gzip' : 'identity';
}
