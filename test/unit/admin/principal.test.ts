import type * as crypto from 'node:crypto';
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createPrincipals, type Identification, type PrincipalEntry } from '../../../src/admin/principal.ts';

const compare = vi.hoisted(() => ({ calls: 0 }));
// The real one, counted: whether the comparison takes constant time cannot be seen from its result.
vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof crypto>();
  return {
    ...original,
    timingSafeEqual(...pair: Parameters<typeof original.timingSafeEqual>) {
      compare.calls += 1;
      return original.timingSafeEqual(...pair);
    },
  };
});

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const nowMs = Date.parse('2026-11-23T12:00:00Z');
const now = () => nowMs;

/** The entry of a principal whose token is its name with `-token` behind. */
function entry(name: string, known: Partial<PrincipalEntry> = {}): PrincipalEntry {
  return {
    name,
    role: 'operator',
    appliances: ['*'],
    deny: [],
    skipConfirmation: false,
    guards: 'refuse',
    sha256: digestOf(`${name}-token`),
    ...known,
  };
}

function principalIn(found: Identification) {
  if (!found || !('principal' in found)) throw new Error(`nobody was identified: ${JSON.stringify(found)}`);
  return found.principal;
}

describe('a token', () => {
  it('identifies its principal with all its limits, and with nothing of the digest', () => {
    const limits = { role: 'viewer', allow: ['listFarms'], deny: ['readFarm'], guards: 'warn' } as const;
    const { identify } = createPrincipals([entry('ann'), entry('bob', limits)], now);

    const principal = principalIn(identify('bob-token'));

    expect(principal).toEqual({
      name: 'bob',
      ...limits,
      appliances: ['*'],
      skipConfirmation: false,
      covers: expect.any(Function),
    });
  });

  it.each(['', 'nobody', 'ann-toke', 'ann-token ', 'ANN-TOKEN', digestOf('ann-token')])('%j opens nothing', (token) => {
    const { identify } = createPrincipals([entry('ann')], now);

    expect(identify(token)).toBeUndefined();
  });

  it.each([
    [nowMs + 1, 'principal'],
    [nowMs, 'expired'],
    [nowMs - 1, 'expired'],
    [0, 'expired'],
    [undefined, 'principal'],
  ])('that ends at %j is found as %s', (expiresAtMs, kind) => {
    const { identify } = createPrincipals([entry('ann', expiresAtMs === undefined ? {} : { expiresAtMs })], now);

    expect(identify('ann-token')).toEqual({ [kind]: expect.objectContaining({ name: 'ann' }) });
  });

  it.each([
    [['*'], ['lb-a', 'x', ''], []],
    [['lb-a'], ['lb-a'], ['lb-b', 'LB-A', 'lb-a ', 'xlb-a', '']],
    [['lb-*'], ['lb-a', 'lb-'], ['lb', 'db-a', 'xlb-a']],
    [['lb-a', 'db-*'], ['lb-a', 'db-1'], ['lb-b']],
    [['lb.a'], ['lb.a'], ['lb-a']],
    [[], [], ['lb-a', '']],
  ])('for %j covers %j and not %j', (appliances, covered, others) => {
    const { identify } = createPrincipals([entry('ann', { appliances })], now);

    const { covers } = principalIn(identify('ann-token'));

    expect(covered.filter((name) => !covers(name))).toEqual([]);
    expect(others.filter((name) => covers(name))).toEqual([]);
  });
});

describe('the comparison', () => {
  beforeEach(() => {
    compare.calls = 0;
  });

  it.each(['ann-token', 'bob-token', 'eve-token', 'nobody', ''])(
    'of %j is in constant time, with all digests, whichever is the right one',
    (token) => {
      const { identify } = createPrincipals([entry('ann'), entry('bob'), entry('eve')], now);

      identify(token);

      expect(compare.calls).toBe(3);
    },
  );
});

describe('a reload', () => {
  it('takes out who is left out, at once and for requests under way', () => {
    const principals = createPrincipals([entry('ann'), entry('bob')], now);
    const ann = principalIn(principals.identify('ann-token'));
    const bob = principalIn(principals.identify('bob-token'));

    principals.replace([entry('bob')]);

    expect(principals.identify('ann-token')).toBeUndefined();
    expect([principals.isInForce(ann), principals.isInForce(bob)]).toEqual([false, true]);
    expect(principalIn(principals.identify('bob-token'))).toBe(bob);
  });

  it.each<Partial<PrincipalEntry>>([
    { role: 'viewer' },
    { appliances: ['lb-a'] },
    { allow: ['listFarms'] },
    { deny: ['listFarms'] },
    { expiresAtMs: nowMs + 1 },
    { skipConfirmation: true },
    { guards: 'warn' },
    { sha256: digestOf('another') },
  ])('ends a principal whose entry has changed: %j', (change) => {
    const principals = createPrincipals([entry('ann')], now);
    const before = principalIn(principals.identify('ann-token'));

    principals.replace([entry('ann', change)]);

    expect(principals.isInForce(before)).toBe(false);
    const token = change.sha256 === undefined ? 'ann-token' : 'another';
    const after = principalIn(principals.identify(token));
    expect(principals.isInForce(after)).toBe(true);
    expect(after).toMatchObject({
      name: 'ann',
      ...Object.fromEntries(Object.entries(change).filter(([key]) => key !== 'sha256')),
    });
  });

  it('keeps a principal whose entry is the same in another place', () => {
    const principals = createPrincipals([entry('ann'), entry('bob')], now);
    const ann = principalIn(principals.identify('ann-token'));

    principals.replace([entry('eve'), entry('ann')]);

    expect(principals.isInForce(ann)).toBe(true);
  });

  it('does not forget which words were tokens: they must not be written down', () => {
    const principals = createPrincipals([entry('ann'), entry('old', { expiresAtMs: 0 })], now);

    principals.replace([entry('bob')]);

    expect(['ann-token', 'old-token', 'bob-token'].map((word) => principals.isToken(word))).toEqual([true, true, true]);
    expect(['nobody', '', digestOf('ann-token')].map((word) => principals.isToken(word))).toEqual([
      false,
      false,
      false,
    ]);
  });
});
