import type { LookupAddress } from 'node:dns';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { errorCode, toError } from '../../../src/lib/check.ts';
import { maxResolveMs, ResolveError, HostResolver } from '../../../src/lib/host-resolver.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  return () => vi.useRealTimers();
});

const at = (address: string): readonly LookupAddress[] => [{ address, family: 4 }];
const failing = (code: string) => Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }));

/** Names whose lookups the test answers, in the order in which they began. */
function givenNames(maxHanging = 2) {
  const begun: { readonly host: string; readonly answer: (found: ReturnType<typeof failing> | string) => void }[] = [];
  const told: string[] = [];
  const resolver = new HostResolver({
    maxHanging,
    lookup(host) {
      const { promise, resolve } = Promise.withResolvers<readonly LookupAddress[]>();
      begun.push({ host, answer: (found) => resolve(typeof found === 'string' ? at(found) : found) });
      return promise;
    },
    listener: {
      failing: (host, because) => told.push(`${host} fails: ${because}`),
      resolved: (host) => told.push(`${host} resolves`),
    },
  });
  /** Resolves to the first address, or to the message of the error. */
  const addressOf = (host: string, withinMs = maxResolveMs) =>
    resolver.resolve(host, withinMs).then(
      ([first]) => first?.address,
      (error: unknown) => toError(error).message,
    );
  /** Makes a name known. */
  async function known(host: string, address: string): Promise<void> {
    const asked = addressOf(host);
    begun.pop()?.answer(address);
    await asked;
  }
  return { resolver, begun, told, addressOf, known, hosts: () => begun.map(({ host }) => host) };
}

describe('a host name', () => {
  it('is looked up once for all who wait for it, and again for the next caller', async () => {
    const { begun, addressOf, hosts } = givenNames();

    const asked = [addressOf('lb.test'), addressOf('lb.test')];
    begun[0]?.answer('192.0.2.1');
    expect(await Promise.all(asked)).toEqual(['192.0.2.1', '192.0.2.1']);
    const later = addressOf('lb.test');
    begun[1]?.answer('192.0.2.2');

    expect(await later).toBe('192.0.2.2');
    expect(hosts()).toEqual(['lb.test', 'lb.test']);
  });

  it.each(['192.0.2.1', '2001:db8::1'])('is not looked up if it is the address %s', async (address) => {
    const { addressOf, hosts } = givenNames();

    expect(await addressOf(address)).toBe(address);
    expect(hosts()).toEqual([]);
  });

  it('keeps its last known address after a second while a lookup hangs, and then at once', async () => {
    const { addressOf, known, hosts } = givenNames();
    await known('lb.test', '192.0.2.1');

    const first = addressOf('lb.test');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toBe('192.0.2.1');
    const second = addressOf('lb.test');
    await vi.advanceTimersByTimeAsync(0);

    expect(await second).toBe('192.0.2.1');
    expect(hosts()).toEqual(['lb.test']);
  });

  it.each([
    ['EAI_AGAIN', 'no answer of the name server (EAI_AGAIN)'],
    ['ENOTFOUND', 'there is no such name (ENOTFOUND)'],
  ])('keeps its last known address while lookups fail with %s, and notifies its listener once', async (code, why) => {
    const { addressOf, known, begun, told } = givenNames();
    await known('lb.test', '192.0.2.1');

    for (const answer of [failing(code), failing(code)]) {
      const asked = addressOf('lb.test');
      begun.pop()?.answer(answer);
      expect(await asked).toBe('192.0.2.1');
    }
    expect(told).toEqual([`lb.test fails: ${why}`]);
    await known('lb.test', '192.0.2.9');
    await known('lb.test', '192.0.2.9');

    expect(told.slice(1)).toEqual(['lb.test resolves']);
  });

  it('is reported with a reason, after six seconds at most, if it never resolved', async () => {
    const { addressOf, begun, told } = givenNames();

    const asked = addressOf('lb.test');
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await asked).toBe('its name lb.test does not resolve: no answer of the name server within 6 s');
    const later = addressOf('lb.test');
    begun[0]?.answer(failing('EAI_AGAIN'));

    expect(await later).toBe('its name lb.test does not resolve: no answer of the name server (EAI_AGAIN)');
    expect(told).toEqual([]);
  });

  it('is known for the next caller after it resolved slowly', async () => {
    const { addressOf, begun } = givenNames();
    const asked = addressOf('lb.test', 2_000);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await asked).toContain('within 2 s');

    begun[0]?.answer('192.0.2.1');
    const next = addressOf('lb.test');
    await vi.advanceTimersByTimeAsync(1_000);

    expect(await next).toBe('192.0.2.1');
  });
});

it('hung lookups are limited in number, and block no other names', async () => {
  const { addressOf, begun, hosts } = givenNames(2);
  const all = ['a', 'b', 'c', 'd'];

  const asked = all.map((host) => addressOf(host));
  await vi.advanceTimersByTimeAsync(10_000);
  for (const { answer } of begun.splice(0)) answer(failing('EAI_AGAIN'));
  await vi.advanceTimersByTimeAsync(0);
  await Promise.all(asked);
  const again = all.map((host) => addressOf(host));
  const other = addressOf('other');
  begun.at(-1)?.answer('192.0.2.1');

  expect(await other).toBe('192.0.2.1');
  expect(hosts()).toEqual(['a', 'b', 'other']);
  expect(await again.at(-1)).toBe('its name d does not resolve: the name server does not answer');
});

it('hung lookups release their slots when they end, and a name that resolves is free again', async () => {
  const { addressOf, begun, hosts } = givenNames(1);
  const asked = ['a', 'b'].map((host) => addressOf(host));
  await vi.advanceTimersByTimeAsync(10_000);
  for (const { answer } of begun.splice(0)) answer(failing('EAI_AGAIN'));
  await vi.advanceTimersByTimeAsync(0);
  await Promise.all(asked);

  const a = addressOf('a');
  begun.pop()?.answer('192.0.2.1');
  expect(await a).toBe('192.0.2.1');
  const b = addressOf('b');
  const another = addressOf('a');
  for (const { answer } of begun) answer('192.0.2.2');

  expect(await Promise.all([b, another])).toEqual(['192.0.2.2', '192.0.2.2']);
  expect(hosts()).toEqual(['b', 'a']);
});

it('a failed lookup is an error with a code', async () => {
  const { resolver, begun } = givenNames();

  const asked = resolver.resolve('lb.test', maxResolveMs).catch((error: unknown) => error);
  begun[0]?.answer(failing('ENOTFOUND'));
  const error = await asked;

  expect(error).toBeInstanceOf(ResolveError);
  expect(errorCode(error)).toBe('ERR_NAME_UNRESOLVED');
});
