import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPrincipals, type Identification, type PrincipalEntry } from '../../../../src/admin/policy/principal.ts';
import { givenEntry } from '../../../support/given-principal.ts';

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const nowMs = Date.parse('2026-11-23T12:00:00Z');
const now = () => nowMs;

/** The entry of a principal whose token is its name with `-token` behind. */
function entry(name: string, known: Partial<PrincipalEntry> = {}): PrincipalEntry {
  return givenEntry(`${name}-token`, { name, role: 'operator', ...known });
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
      person: 'someone',
      approver: false,
      breakGlass: false,
      covers: expect.any(Function),
    });
  });

  it.each(['', 'nobody', 'ann-toke', 'ann-token ', 'ANN-TOKEN', digestOf('ann-token')])(
    'grants no access as %j',
    (token) => {
      const { identify } = createPrincipals([entry('ann')], now);

      expect(identify(token)).toBeUndefined();
    },
  );

  it.each([
    [nowMs + 1, 'principal'],
    [nowMs, 'expired'],
    [nowMs - 1, 'expired'],
    [0, 'expired'],
    [undefined, 'principal'],
  ])('expires at %j and counts as %s', (expiresAtMs, kind) => {
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
  ])('is limited to %j: it covers %j and not %j', (appliances, covered, others) => {
    const { identify } = createPrincipals([entry('ann', { appliances })], now);

    const { covers } = principalIn(identify('ann-token'));

    expect(covered.filter((name) => !covers(name))).toEqual([]);
    expect(others.filter((name) => covers(name))).toEqual([]);
  });
});

describe('the token comparison', () => {
  // Constant time cannot be seen from the result, so the calls are counted.
  function countedComparisons() {
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    onTestFinished(() => {
      compare.mockRestore();
      syncBuiltinESMExports();
    });
    return compare;
  }

  it.each(['ann-token', 'bob-token', 'eve-token', 'nobody', ''])(
    'compares all digests for %j, wherever the match is',
    (token) => {
      const { identify } = createPrincipals([entry('ann'), entry('bob'), entry('eve')], now);
      const compare = countedComparisons();

      identify(token);

      expect(compare).toHaveBeenCalledTimes(3);
    },
  );
});

describe('a reload of the tokens', () => {
  const withdrawn = expect.objectContaining({ code: 'unauthenticated' }) as Error;

  it('removes deleted principals at once, also for earlier requests', () => {
    const principals = createPrincipals([entry('ann'), entry('bob')], now);
    const ann = principalIn(principals.identify('ann-token'));
    const bob = principalIn(principals.identify('bob-token'));

    principals.replace([entry('bob')]);

    expect(principals.identify('ann-token')).toBeUndefined();
    expect(() => principals.assertInForce(ann)).toThrow(withdrawn);
    expect(() => principals.assertInForce(bob)).not.toThrow();
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
  ])('removes a principal whose entry has changed: %j', (change) => {
    const principals = createPrincipals([entry('ann')], now);
    const before = principalIn(principals.identify('ann-token'));

    principals.replace([entry('ann', change)]);

    expect(() => principals.assertInForce(before)).toThrow(withdrawn);
    const token = change.sha256 === undefined ? 'ann-token' : 'another';
    const after = principalIn(principals.identify(token));
    expect(() => principals.assertInForce(after)).not.toThrow();
    expect(after).toMatchObject({
      name: 'ann',
      ...Object.fromEntries(Object.entries(change).filter(([key]) => key !== 'sha256')),
    });
  });

  it('keeps a principal whose entry has only moved', () => {
    const principals = createPrincipals([entry('ann'), entry('bob')], now);
    const ann = principalIn(principals.identify('ann-token'));

    principals.replace([entry('eve'), entry('ann')]);

    expect(() => principals.assertInForce(ann)).not.toThrow();
  });

  it('still recognises former tokens, which must not be recorded', () => {
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
