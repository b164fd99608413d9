import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counter, type Emit, gauge } from '../../../src/metrics/family.ts';
import type { Format } from '../../../src/metrics/exposition.ts';
import { fillRegistry } from '../../../src/metrics/render.ts';
import { createMetricsStore, type MetricsStore } from '../../../src/metrics/store.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { textOf } from '../../support/store-text.ts';

const up = gauge('zlb_up', 'Whether it answers (any call).');
const calls = counter('zlb_calls_total', 'Calls with a \\ and a\nnewline (this exporter).', ['code']);
const families = [up, calls];
const plain = { format: 'text', encoding: 'identity' } as const;

describe('the metrics page', () => {
  it('has each family once in order, with the appliances in order', async () => {
    const store = given();

    put(store, 'lb-2', 'a', (emit) => emit.sample(calls, { code: '200' }, 2));
    put(store, 'lb-1', 'b', (emit) => emit.sample(calls, { code: '500' }, 1));
    put(store, 'lb-1', 'a', fillEverything);

    expect(await textOf(store)).toBe(
      '# HELP zlb_up Whether it answers (any call).\n' +
        '# TYPE zlb_up gauge\n' +
        'zlb_up{appliance="lb-1"} 1\n' +
        '# HELP zlb_calls_total Calls with a \\\\ and a\\nnewline (this exporter).\n' +
        '# TYPE zlb_calls_total counter\n' +
        'zlb_calls_total{appliance="lb-1",code="500"} 1\n' +
        'zlb_calls_total{appliance="lb-1",code="200"} 1\n' +
        'zlb_calls_total{appliance="lb-2",code="200"} 2\n',
    );
  });

  it.each(['identity', 'gzip'] as const)('omits configured labels if asked to, as %s', async (encoding) => {
    const info = { ...gauge('zlb_info', 'What it is (any call).', ['kernel']), hasConfiguredLabels: true };
    const store = createMetricsStore([info]);
    store.arrange(['lb-1']);
    put(store, 'lb-1', 'a', (emit) => emit.sample(info, { kernel: '6,site="x"' }, 1, { site: 'a "b", c', rack: '1' }));

    const page = await store.exposition({ format: 'text', encoding }, new Set(['lb-1']), true);

    const bytes = Buffer.concat(page.finish(''));
    const text = encoding === 'gzip' ? gunzipSync(bytes) : bytes;
    expect(text.toString()).toContain('\nzlb_info{appliance="lb-1",kernel="6,site=\\"x\\""} 1\n');
  });

  it('renders a long reading after other work, and a short one at once', async () => {
    const orderWith = async (series: number) => {
      const store = given();
      const order: string[] = [];
      const other = new Promise<void>((resolve) => setImmediate(resolve)).then(() => order.push('other work'));
      put(store, 'lb-1', 'a', (emit) => {
        for (let code = 0; code < series; code += 1) emit.sample(calls, { code: String(code) }, code);
      });
      await store.exposition(plain);
      order.push('page');
      await other;
      return order;
    };

    expect(await orderWith(2_001)).toEqual(['other work', 'page']);
    expect(await orderWith(2_000)).toEqual(['page', 'other work']);
  });

  it('names counter families without their suffix in OpenMetrics, and is otherwise the same', async () => {
    const store = given();
    put(store, 'lb-1', 'a', fillEverything);

    const openmetrics = await textOf(store, 'openmetrics');

    expect(openmetrics).toBe((await textOf(store)).replaceAll(/^(# \w+ zlb_calls)_total /gm, '$1 '));
    expect(openmetrics).toMatch(/^zlb_calls_total{/m);
  });

  it('contains every earlier reading, and a later one completely', async () => {
    const store = given();
    put(store, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));

    const page = textOf(store);
    await Promise.resolve();
    put(store, 'lb-1', 'a', (emit) => emit.sample(up, {}, 1));
    put(store, 'lb-1', 'b', (emit) => emit.sample(calls, { code: '200' }, 1));

    expect((await page).match(/^zlb_.*$/gm)).toEqual([
      'zlb_up{appliance="lb-1"} 1',
      'zlb_calls_total{appliance="lb-1",code="200"} 1',
    ]);
  });

  it('contains long readings completely that arrived while it waited for another one', async () => {
    const store = given();
    const putLong = (key: string, first: number) =>
      put(store, 'lb-1', key, (emit) => {
        for (let code = first; code < first + 2_001; code += 1) emit.sample(calls, { code: String(code) }, 1);
      });
    await textOf(store);
    putLong('a', 0);

    const page = textOf(store);
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    putLong('b', 5_000);

    expect((await page).match(/^zlb_.*$/gm)).toHaveLength(4_002);
  });

  it('is the same object until something changes', async () => {
    const store = given();
    put(store, 'lb-1', 'a', fillEverything);
    const page = await store.exposition(plain);

    store.remove('lb-1', 'never put');
    store.remove('lb-9', 'a');
    put(store, 'lb-9', 'a', fillEverything);

    expect(await store.exposition(plain)).toBe(page);
    put(store, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));
    expect(await store.exposition(plain)).not.toBe(page);
  });

  it('stays the same for a slow reader', async () => {
    const store = given();
    put(store, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));
    const before = await store.exposition(plain);

    put(store, 'lb-1', 'a', (emit) => emit.sample(up, {}, 1));
    await store.exposition(plain);

    expect(Buffer.concat(before.finish('')).toString()).toContain('} 0\n');
  });
});

it('a reading disappears when it is removed, rendered or not, with its headers', async () => {
  const store = given();
  put(store, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));
  put(store, 'lb-1', 'b', (emit) => emit.sample(calls, { code: '200' }, 1));
  store.remove('lb-1', 'b');
  const before = await textOf(store);
  store.remove('lb-1', 'a');

  expect(before).toContain('zlb_up{');
  expect(before).not.toContain('zlb_calls');
  expect(await textOf(store)).toBe('');
});

it('the appliances of a page keep their series, lose them when removed, and start empty when new', async () => {
  const store = given();
  for (const appliance of ['lb-1', 'lb-2', 'lb-3']) put(store, appliance, 'a', fillEverything);

  store.arrange(['lb-4', 'lb-3', 'lb-1']);
  put(store, 'lb-2', 'a', fillEverything);
  const arranged = upLines(await textOf(store));
  store.arrange(['lb-2', 'lb-4', 'lb-3', 'lb-1'], new Set(['lb-3']));
  put(store, 'lb-4', 'a', fillEverything);

  expect(arranged).toEqual(['zlb_up{appliance="lb-3"} 1', 'zlb_up{appliance="lb-1"} 1']);
  expect(upLines(await textOf(store))).toEqual(['zlb_up{appliance="lb-4"} 1', 'zlb_up{appliance="lb-1"} 1']);
});

describe('any history of readings', () => {
  const step = fc.record({
    what: fc.constantFrom('put', 'put', 'remove', 'arrange', 'look'),
    appliance: fc.constantFrom('lb-1', 'lb-2', 'lb-3'),
    key: fc.constantFrom('a', 'b'),
    lines: fc.constantFrom(0, 1, 2, 150),
    value: fc.nat({ max: 3 }),
  });

  it('leaves a page with the last reading of each key, the same in both formats and encodings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = given();
        let arranged = ['lb-1', 'lb-2', 'lb-3'];
        const expected = new Map<string, number>();
        const forget = (start: string) => {
          for (const each of expected.keys()) if (each.startsWith(start)) expected.delete(each);
        };
        for (const { what, appliance, key, lines, value } of steps) {
          if (what === 'look') await unpacked(store);
          else if (what === 'arrange') {
            for (const each of arranged) if (each !== appliance) forget(each);
            arranged = [appliance];
            store.arrange(arranged);
            arranged = ['lb-3', 'lb-2', 'lb-1'];
            store.arrange(arranged);
          } else {
            forget(`${appliance} ${key}`);
            if (what === 'remove') store.remove(appliance, key);
            else {
              put(store, appliance, key, (emit) => {
                for (let line = 0; line < lines; line += 1) emit.sample(calls, { code: `${key}${line}` }, value);
              });
              for (let line = 0; line < lines; line += 1) expected.set(`${appliance} ${key}${line}`, value);
            }
          }
        }

        const page = await textOf(store);
        const samples = parseExposition(page, 'text').flatMap((family) => family.samples);
        expect(new Map(samples.map(({ labels, value }) => [`${labels.appliance} ${labels.code}`, value]))).toEqual(
          expected,
        );
        expect(await unpacked(store)).toBe(page);
        expect(await unpacked(store, 'openmetrics')).toBe(await textOf(store, 'openmetrics'));
      }),
    );
  });
});

function given(): MetricsStore {
  const store = createMetricsStore(families);
  store.arrange(['lb-1', 'lb-2', 'lb-3']);
  return store;
}

function fillEverything(emit: Emit): void {
  emit.sample(up, {}, 1);
  emit.sample(calls, { code: '200' }, 1);
}

function put(store: MetricsStore, appliance: string, key: string, fill: (emit: Emit) => void): void {
  store.put(appliance, key, fillRegistry(appliance, fill));
}

function upLines(page: string): readonly string[] | null {
  return page.match(/^zlb_up.*$/gm);
}

async function unpacked(store: MetricsStore, format: Format = 'text'): Promise<string> {
  const page = await store.exposition({ format, encoding: 'gzip' });
  return gunzipSync(Buffer.concat(page.finish(''))).toString();
}
