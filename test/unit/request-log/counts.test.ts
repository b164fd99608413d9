import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { labelValue, renderRegistry } from '../../../src/metrics/render.ts';
import { lineResults, type Objective, RequestCounts } from '../../../src/request-log/counts.ts';
import type { LoggedResponse } from '../../../src/request-log/logged-line.ts';
import { keptBytes } from '../../support/kept-memory.ts';
import { seriesOf, valueOf } from '../../support/samples.ts';

const answer: LoggedResponse = {
  kind: 'answer',
  farm: 'shop',
  service: 'front',
  backend: '10.0.0.1:80',
  code: '200',
  bytes: 100,
  seconds: 0.05,
  isClientFault: false,
};
const farms = [
  { name: 'shop', backends: [{ service: 'front', backend: '10.0.0.1:80' }] },
  { name: 'intranet', backends: undefined },
];

function given({ objectives = [] }: { readonly objectives?: readonly Objective[] } = {}) {
  const counts = new RequestCounts('lb', [100, 300, 1_000], objectives);
  counts.learn(farms);
  return { counts, page: () => renderRegistry(counts.current().registry) };
}

it('the counters of lines of each kind start at 0', async () => {
  const page = await given().page();
  for (const result of lineResults) expect(valueOf(page, 'zlb_request_log_lines_total', { result })).toBe(0);
});

it('a name is written as in all other families, whatever an appliance puts into it', async () => {
  const counts = new RequestCounts('lb', [100], []);
  const names = ['a\0b', '\ud800', '\ud801', 'x'.repeat(500), 'a,backend:b', 'turned\u202e'];
  counts.learn([{ name: 'shop', backends: names.map((backend) => ({ service: 'front', backend })) }]);
  counts.countResponse({ ...answer, backend: '' });

  const page = await renderRegistry(counts.current().registry);

  const written = [...page.matchAll(/backend="([^"]+)",code="502"/g)].map(([, backend]) => backend);
  expect(written).toEqual(names.map((name) => labelValue(name, ['backend'])));
  expect(new Set(written).size).toBe(names.length);
});

describe('counted requests', () => {
  it.each([
    ['100', '1xx'],
    ['200', '2xx'],
    ['404', '4xx'],
    ['500', '500'],
    ['502', '502'],
    ['503', '503'],
    ['504', '504'],
    ['501', '5xx_other'],
    ['599', '5xx_other'],
    ['000', 'unknown'],
    ['999', 'unknown'],
  ])('have for the status %s the code %s', async (code, label) => {
    const { counts, page } = given();
    counts.countResponse({ ...answer, code });
    expect(valueOf(await page(), 'zlb_requests_total', { backend: '10.0.0.1:80', code: label })).toBe(1);
  });

  it.each([
    ['a farm', { farm: 'forged' }, { farm: 'unknown', service: 'unknown', backend: 'unknown' }],
    ['a service', { service: 'forged' }, { farm: 'shop', service: 'unknown', backend: 'unknown' }],
    ['a backend', { backend: '10.9.9.9:80' }, { farm: 'shop', service: 'front', backend: 'unknown' }],
    [
      'a backend of a farm whose backends were not read',
      { farm: 'intranet' },
      { farm: 'intranet', service: 'unknown' },
    ],
    ['no service', { service: '', backend: '' }, { farm: 'shop', service: '', backend: '' }],
  ])('share one name when polling does not know %s', async (_, names, labels) => {
    const { counts, page } = given();
    counts.countResponse({ ...answer, ...names });
    expect(valueOf(await page(), 'zlb_requests_total', { ...labels, code: '2xx' })).toBe(1);
  });

  it('retain none of the text of their lines', async () => {
    const backends = Array.from({ length: 500 }, (_, index) => ({
      service: 'front',
      backend: `10.0.0.1:${1_000 + index}`,
    }));
    const { counts } = given();
    counts.learn([{ name: 'shop', backends }]);
    const kept = await keptBytes(() => {
      for (const { backend } of backends) {
        const rest = `${'x'.repeat(60_000)}${backend}`;
        counts.countResponse({ ...answer, backend: Buffer.from(rest).toString('latin1').slice(60_000) });
      }
    });
    expect(kept).toBeLessThan(10_000_000);
  });

  it('do not fill a page with megabytes for an appliance with fifty thousand long names', async () => {
    const { counts, page } = given();
    const named = (length: number, start: string): string => start.padEnd(length, 'x');
    const many = Array.from({ length: 55 }, (_, farm) => ({
      name: named(200, `farm-${farm}-`),
      backends: Array.from({ length: 900 }, (__, at) => ({
        service: named(200, 'service-'),
        backend: named(250, `${at}-`),
      })),
    }));
    for (let round = 0; round < 2; round += 1) {
      counts.learn(many);
      for (const { name } of many) counts.countResponse({ ...answer, farm: name });
    }

    expect((await page()).length).toBeLessThan(10_000_000);
  });

  it('create no series for forged names', async () => {
    const { counts, page } = given();
    for (let index = 0; index < 1_000; index += 1) {
      counts.countResponse({ ...answer, farm: `f${index}` });
      counts.countResponse({ ...answer, service: `s${index}`, backend: `b${index}` });
      counts.countDenial(`f${index}`);
    }
    const series = seriesOf(await page(), 'zlb_requests_total').filter((line) => !line.endsWith(' 0'));
    expect(series).toHaveLength(2);
    expect(seriesOf(await page(), 'zlb_waf_denials_total')).toHaveLength(1);
  });

  it('keep their names when polling no longer knows them', async () => {
    const { counts, page } = given();
    counts.learn([]);
    counts.countResponse(answer);
    expect(valueOf(await page(), 'zlb_requests_total', { backend: '10.0.0.1:80', code: '2xx' })).toBe(1);
  });

  it.each([
    ['a backend', { service: 'front', backend: '10.0.0.1:80' }, ['500', '502', '503', '504', '5xx_other']],
    ['a service without one', { service: 'front', backend: '' }, ['503']],
    ['no service', { service: '', backend: '' }, ['503']],
  ])(
    'start at 0 with the first request of their farm, and not before, when they fail by %s',
    async (_, labels, codes) => {
      const { counts, page } = given();
      expect(seriesOf(await page(), 'zlb_requests_total')).toEqual([]);
      counts.countResponse({ ...answer, code: '200' });
      const text = await page();
      for (const code of codes) expect(valueOf(text, 'zlb_requests_total', { ...labels, code })).toBe(0);
    },
  );

  it('start at 0 when they fail by a backend that is added later', async () => {
    const { counts, page } = given();
    counts.countResponse(answer);
    counts.learn([{ name: 'shop', backends: [{ service: 'front', backend: '10.0.0.2:80' }] }]);
    expect(valueOf(await page(), 'zlb_requests_total', { backend: '10.0.0.2:80', code: '502' })).toBe(0);
  });

  it('have a duration by backend too, as sum and count', async () => {
    const { counts, page } = given();
    counts.countResponse(answer);
    counts.countResponse({ ...answer, seconds: 0.25 });
    const text = await page();
    const labels = { farm: 'shop', service: 'front', backend: '10.0.0.1:80' };
    expect(valueOf(text, 'zlb_backend_request_duration_seconds_sum', labels)).toBe(0.3);
    expect(valueOf(text, 'zlb_backend_request_duration_seconds_count', labels)).toBe(2);
    expect(seriesOf(text, 'zlb_backend_request_duration_seconds_bucket')).toHaveLength(1);
  });

  it('count each when one line stands for many', async () => {
    const { counts, page } = given();
    counts.countResponse(answer, 3);
    const text = await page();
    expect(valueOf(text, 'zlb_requests_total', { code: '2xx' })).toBe(3);
    expect(valueOf(text, 'zlb_response_bytes_total')).toBe(300);
    expect(valueOf(text, 'zlb_request_duration_seconds_count')).toBe(3);
  });

  it('have neither size nor duration when the proxy answers itself', async () => {
    const { counts, page } = given();
    counts.countResponse({ ...answer, code: '503', bytes: undefined, seconds: undefined });
    const text = await page();
    expect(valueOf(text, 'zlb_requests_total', { backend: '10.0.0.1:80', code: '503' })).toBe(1);
    expect(text).not.toMatch(/^zlb_(?:request_duration|response_bytes)\w*\{/m);
  });

  it('are all in the counters and in the histogram', async () => {
    const some = fc.record({
      code: fc.integer({ min: 100, max: 599 }).map(String),
      bytes: fc.integer({ min: 0, max: 1e9 }),
      seconds: fc.integer({ min: 0, max: 2_000 }).map((ms) => ms / 1_000),
      farm: fc.constantFrom('shop', 'forged'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 50 }), async (answers) => {
        const { counts, page } = given();
        for (const each of answers) counts.countResponse({ ...answer, ...each });
        const text = await page();
        const sum = (name: string, labels = {}) =>
          seriesOf(text, name, labels).reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
        expect(sum('zlb_requests_total')).toBe(answers.length);
        expect(sum('zlb_response_bytes_total')).toBe(answers.reduce((total, { bytes }) => total + bytes, 0));
        expect(sum('zlb_request_duration_seconds_count')).toBe(answers.length);
        expect(sum('zlb_request_duration_seconds_bucket', { le: '0.3' })).toBe(
          answers.filter(({ seconds }) => seconds <= 0.3).length,
        );
      }),
    );
  });
});

describe('an objective', () => {
  const objectives = [{ farm: 'shop', availabilityRatio: 0.999, latency: { thresholdMs: 250, ratio: 0.99 } }];

  it.each([
    ['a good response', {}, [0, 0]],
    ['a response with status 500', { code: '500' }, [1, 0]],
    ['a refusal of the client', { code: '404' }, [0, 0]],
    ['a late response', { seconds: 0.251 }, [0, 1]],
    ['a response at the last moment', { seconds: 0.25 }, [0, 0]],
    ['a late failure', { code: '500', seconds: 5.004 }, [1, 1]],
    ['a failure that the client caused', { code: '501', seconds: undefined, isClientFault: true }, [0, 0]],
    ['a response of the proxy itself', { code: '503', seconds: undefined }, [1, 0]],
  ])('is evaluated correctly for %s', async (_, part, missed) => {
    const { counts, page } = given({ objectives });
    counts.countResponse({ ...answer, ...part });
    const text = await page();
    const missedOf = (objective: string) => valueOf(text, 'zlb_objective_missed_total', { farm: 'shop', objective });
    expect([missedOf('availability'), missedOf('latency')]).toEqual(missed);
  });

  it('says whether its farm exists, once the farms are known', async () => {
    const { counts, page } = given({ objectives: [...objectives, { farm: 'shopp', availabilityRatio: 0.9 }] });
    const known = async (farm: string) => valueOf(await page(), 'zlb_objective_farm_known', { farm });
    expect([await known('shop'), await known('shopp')]).toEqual([1, 0]);
    counts.learn(undefined);
    expect([await known('shop'), await known('shopp')]).toEqual([undefined, undefined]);
  });

  it('has its counters from the start, so that the first failure is an increase', async () => {
    const text = await given({ objectives }).page();
    for (const name of ['zlb_objective_requests_total', 'zlb_objective_missed_total'])
      expect(seriesOf(text, name).map((line) => line.split(' ').at(-1))).toEqual(['0', '0']);
    expect(valueOf(text, 'zlb_objective_ratio', { objective: 'availability' })).toBe(0.999);
    expect(valueOf(text, 'zlb_objective_ratio', { objective: 'latency' })).toBe(0.99);
  });
});

it('the last minute of a farm has the rate, the failures and the 95th percentile, and is empty without lines', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { counts } = given();
  expect(counts.lastMinute('shop')).toBeUndefined();

  for (let index = 0; index < 100; index += 1)
    counts.countResponse({ ...answer, code: index < 3 ? '502' : '200', seconds: index < 94 ? 0.05 : 0.7 });
  expect(counts.lastMinute('shop'), 'ten seconds that are not over').toBeUndefined();
  vi.advanceTimersByTime(10_000);
  expect(counts.lastMinute('shop')).toEqual({ perSecond: 100 / 60, failed: 3, p95Seconds: 1 });

  vi.advanceTimersByTime(60_000);
  expect(counts.lastMinute('shop')).toBeUndefined();
});

it('names of an appliance are known up to 10,000, and the others count as unknown', async () => {
  const { counts, page } = given();
  counts.learn(Array.from({ length: 10_001 }, (_, index) => ({ name: `farm-${index}`, backends: [] })));

  counts.countResponse({ ...answer, farm: 'farm-9000' });
  counts.countResponse({ ...answer, farm: 'farm-10000' });

  const requestsOf = async (farm: string) => seriesOf(await page(), 'zlb_requests_total', { farm, code: '2xx' }).length;
  expect(await requestsOf('farm-9000')).toBe(1);
  expect(await requestsOf('farm-10000')).toBe(0);
  expect(await requestsOf('unknown')).toBe(1);
});
