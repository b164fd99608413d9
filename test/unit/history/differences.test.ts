import { describe, expect, it } from 'vitest';
import { backendObject, type ConfiguredObject } from '../../../src/collectors/configured.ts';
import { compareConfigured, isNumberIn, withFormerSettings } from '../../../src/history/differences.ts';

const backend = (name: string, settings: Readonly<Record<string, string>> = { weight: '1' }): ConfiguredObject => ({
  object: 'backend',
  farm: 'shop',
  service: 'web',
  name,
  id: '0',
  settings,
});

it('two backends replaced by two identical others are reported as removed and added', () => {
  const differences = compareConfigured([backend('a'), backend('b')], [backend('c'), backend('d')]);

  expect(differences.map(({ setting }) => setting)).toEqual(['', '', '', '']);
});

it('a backend replaced by two identical others is reported as removed, and both as added', () => {
  expect(compareConfigured([backend('a')], [backend('b'), backend('c')]).map(({ setting }) => setting)).toEqual([
    '',
    '',
    '',
  ]);
});

it.each([
  ['300000000', { from: 0, to: 300_000_000 }],
  ['9007199254740991', { from: 0, to: Number.MAX_SAFE_INTEGER }],
  ['1e99', ['0', '1e99']],
])('a backend whose number became %s may have had any number between', (id, ids) => {
  const [difference] = compareConfigured([backend('a')], [{ ...backend('a', { weight: '2' }), id }]);

  expect(difference).toMatchObject({ setting: 'weight', ids });
  expect(['0', id, '-1', '1.5', ''].map((text) => isNumberIn(ids, text))).toEqual([true, true, false, false, false]);
});

it('the numbers of thousands of replaced backends are stored as ranges, not lists', () => {
  const named = (prefix: string) =>
    Array.from({ length: 4_000 }, (_, index) => ({ ...backend(`${prefix}${index}`), id: `${index}` }));

  const differences = compareConfigured(named('old'), named('new'));

  expect(differences).toHaveLength(8_000);
  expect(differences.at(0)?.ids).toEqual({ from: 0, to: 3_999 });
  expect(differences.at(-1)?.ids).toEqual({ from: 3_999, to: 7_999 });
});

it('a backend that differs from a new one only in its last setting was not renamed', () => {
  const long = { a: 'x'.repeat(300), weight: '1' };

  expect(compareConfigured([backend('a', long)], [backend('b', { ...long, weight: '2' })])).toHaveLength(2);
});

it('thousands of backends of one address are compared within the time of one poll', () => {
  const weighted = (weight: number) =>
    Array.from({ length: 20_000 }, (_, index) => ({
      ...backend('a', { weight: String(weight + index) }),
      service: `service ${index % 20}`,
    }));
  const before = process.threadCpuUsage();
  const differences = compareConfigured(weighted(0), weighted(100_000));

  expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
  expect(differences).toHaveLength(20_000);
});

it('a thousand replaced backends are compared within the time of one poll', () => {
  const named = (prefix: string) => Array.from({ length: 1_000 }, (_, index) => backend(`${prefix}${index}`));
  const before = process.threadCpuUsage();
  const differences = compareConfigured(named('old'), named('new'));

  expect(differences).toHaveLength(2_000);
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});

it('a health check that no farm of the reading uses any more is not reported as removed', () => {
  const check: ConfiguredObject = { object: 'check', farm: '', service: '', name: 'http', settings: { interval: '5' } };

  expect(compareConfigured([check], [])).toEqual([]);
  expect(compareConfigured([check], [{ ...check, settings: { interval: '9' } }])).toMatchObject([
    { setting: 'interval', before: '5', after: '9' },
  ]);
});

describe('backends of one address', () => {
  const twice = (...weights: readonly string[]) => weights.map((weight, index) => numbered('a', index, weight));
  const numbered = (label: string, id: number, weight: string): ConfiguredObject =>
    backendObject(
      { farm: 'shop', service: 'web', backend: label === 'a' ? `a#${id}` : label, id: `${id}` },
      { weight },
    );

  it('keep their identity when the appliance renumbers them', () => {
    const before = [numbered('b', 0, '1'), numbered('a', 1, '5'), numbered('a', 2, '7')];

    expect(compareConfigured(before, twice('5', '7'))).toMatchObject([{ name: 'b', setting: '' }]);
  });

  it('are reported as one removed or one added, whatever their order', () => {
    const alone = backend('a', { weight: '7' });

    expect(compareConfigured(twice('5', '7'), [alone])).toMatchObject([{ name: 'a', before: 'weight 5' }]);
    expect(compareConfigured([alone], twice('5', '7'))).toMatchObject([{ name: 'a', after: 'weight 5' }]);
    expect(compareConfigured(twice('5', '7'), twice('7', '5'))).toEqual([]);
    expect(compareConfigured(twice('5', '5'), [backend('a', { weight: '5' })])).toHaveLength(1);
  });

  it('keep the settings that only the previous reading had, each its own', () => {
    const before = [backend('a', { weight: '5', timeout: '1' }), backend('a', { weight: '7', timeout: '2' })];
    const after = withFormerSettings(before, twice('7', '5'));

    expect(after.map(({ settings }) => settings)).toEqual([
      { weight: '7', timeout: '2' },
      { weight: '5', timeout: '1' },
    ]);
  });
});

describe('reordered services', () => {
  const services = (...names: readonly string[]) =>
    names.map(
      (name): ConfiguredObject => ({ ...backend(name), object: 'service', service: name, settings: { urlp: name } }),
    );

  it('are one difference of their farm, which lists those that moved', () => {
    const [before, after] = [services('a', 'b', 'c', 'd'), services('a', 'c', 'b', 'd')];

    expect(compareConfigured(before, after)).toEqual([
      { object: 'farm', farm: 'shop', service: '', name: 'shop', setting: 'services', before: 'b, c', after: 'c, b' },
    ]);
  });

  it('are not reported when one between them is added or removed', () => {
    const abc = services('a', 'b', 'c');

    expect(compareConfigured(abc, services('a', 'c'))).toMatchObject([{ name: 'b', setting: '' }]);
    expect(compareConfigured(services('a', 'c'), abc)).toMatchObject([{ name: 'b', setting: '' }]);
  });

  it('are no difference when they match no requests, as in a GSLB farm', () => {
    const [a, b] = ['a', 'b'].map((name): ConfiguredObject => ({ ...backend(name), object: 'service' }));

    expect(compareConfigured([a!, b!], [b!, a!])).toEqual([]);
  });
});

it('a state word in another case is not a difference, but a name in another case is', () => {
  const farm = (settings: Readonly<Record<string, string>>): ConfiguredObject => ({
    ...backend('shop'),
    object: 'farm',
    settings,
  });
  const before = farm({ rewritelocation: 'enabled', disable_sslv3: 'true', certificates: 'a.pem', vip: '2001:db8::a' });
  const after = farm({ rewritelocation: 'ENABLED', disable_sslv3: 'True', certificates: 'A.pem', vip: '2001:DB8::A' });

  expect(compareConfigured([before], [after])).toMatchObject([{ setting: 'certificates' }]);
  expect(backendObject({ farm: 'shop', service: '', backend: '[2001:DB8::A]:80' }, {}).name).toBe('[2001:db8::a]:80');
});
