import { describe, expect, it } from 'vitest';
import { negotiateEncoding, negotiateFormat } from '../../../src/server/negotiate.ts';
import { acceptsGzip } from '../../../src/lib/http.ts';

const openmetrics1 = 'application/openmetrics-text;version=1.0.0';

describe('the negotiated format', () => {
  it.each([
    [
      'Prometheus 2.42',
      `${openmetrics1},application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
    ],
    [
      'Prometheus 3',
      `${openmetrics1};escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    ],
    [
      'Prometheus with native histograms, which would rather have protobuf',
      `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,${openmetrics1};q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    ],
    ['who names no version', 'application/openmetrics-text'],
    ['who writes spaces and capitals', 'Application/OpenMetrics-Text; Version=1.0.0; Q=0.5, text/plain; q=0.4'],
  ])('is OpenMetrics for %s', (_, accept) => {
    expect(negotiateFormat(accept)).toBe('openmetrics');
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['curl', '*/*'],
    ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    [
      'Chromium',
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
    ],
    ['Prometheus before 2.23', 'application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'],
    ['Prometheus told to take text only', 'text/plain;version=0.0.4;q=0.3,*/*;q=0.2'],
    ['who likes text better', `${openmetrics1};q=0.3,text/plain;version=0.0.4;q=0.6`],
    ['who refuses OpenMetrics', `${openmetrics1};q=0,*/*`],
    ['who writes a weight that is none', `${openmetrics1};q=much`],
    ['who knows only a later OpenMetrics', 'application/openmetrics-text;version=2.0.0'],
    ['who writes nonsense', ';;,=;q==,/;,\t,application/openmetrics'],
  ])('is Prometheus text for %s', (_, accept) => {
    expect(negotiateFormat(accept)).toBe('text');
  });
});

it.each([
  ['Prometheus', 'gzip', 'gzip'],
  ['a client that names zstd', 'zstd', 'zstd'],
  ['a client that names both', 'gzip, zstd', 'zstd'],
  ['a client that weighs gzip higher', 'zstd;q=0.5, gzip;q=0.8', 'gzip'],
  ['a client that refuses zstd', 'gzip, zstd;q=0', 'gzip'],
  ['a client that takes anything', '*', 'identity'],
  ['curl', undefined, 'identity'],
])('the encoding for %s is negotiated from %s', (_, acceptEncoding, encoding) => {
  expect(negotiateEncoding(acceptEncoding)).toBe(encoding);
});

it.each([
  ['Prometheus and Go', 'gzip', true],
  ['curl --compressed', 'deflate, gzip, br, zstd', true],
  ['a client that weighs', 'br;q=1.0, GZIP; q=0.8, *;q=0.1', true],
  ['curl', undefined, false],
  ['a client with an empty header', '', false],
  ['a client that refuses it to three digits', 'gzip;q=0.000', false],
  ['a client that names others only', 'br, zstd, deflate', false],
  ['a client that writes a weight that is none', 'gzip;q=much', false],
])('the gzip support of %s is read from %s', (_, acceptEncoding, isAccepted) => {
  expect(acceptsGzip(acceptEncoding)).toBe(isAccepted);
});
