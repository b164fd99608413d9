import { compare } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import type { BcryptThread } from '../../../src/web/password-check.ts';
import { givenUsers, givenWebAccess, outcomeOf } from '../../support/given-web-access.ts';
import { until } from '../../support/until.ts';

const users = givenUsers({ alice: 'wonderland', böb: 'pässwörd:with:colons' });
const policy = { users, headers: {} };

/** Compares as the thread does, and remembers what. */
function countingThread(): BcryptThread & { readonly hashes: string[] } {
  const hashes: string[] = [];
  return {
    hashes,
    compare(password, hash) {
      hashes.push(hash);
      return compare(password, hash);
    },
    close: async () => undefined,
  };
}

/** Creates a thread that compares on command. */
function heldThread() {
  const held: PromiseWithResolvers<boolean>[] = [];
  const thread: BcryptThread = {
    compare() {
      const one = Promise.withResolvers<boolean>();
      held.push(one);
      return one.promise;
    },
    close: async () => undefined,
  };
  return { held, thread };
}

describe('a password', () => {
  it('decides about access, with its user, also the second time', async () => {
    const { ask } = await givenWebAccess(policy);
    const wrong = [
      'alice:Wonderland',
      'alice:',
      'Alice:wonderland',
      'mallory:wonderland',
      '__proto__:wonderland',
      ':',
      'alice',
    ];

    for (const basic of ['alice:wonderland', 'böb:pässwörd:with:colons', ...wrong])
      for (const _ of ['first', 'cached'])
        expect(await outcomeOf(ask({ basic })), basic).toBe(wrong.includes(basic) ? 401 : 'let in');
  });

  it('is not accepted in another form of the header', async () => {
    const { ask } = await givenWebAccess(policy);

    for (const header of [
      'Bearer abc',
      'Basic',
      'Basic ',
      'Basic ä',
      'Digest username="alice"',
      `basic ${btoa('alice')}`,
    ])
      expect(await outcomeOf(ask({ headers: { authorization: encodeURI(header) } })), header).toBe(401);
  });

  it('is requested as browsers and Prometheus expect, and the connection ends', async () => {
    const { ask } = await givenWebAccess({ ...policy, headers: { 'X-Frame-Options': 'deny' } });

    const { status, headers } = await ask();

    expect(status).toBe(401);
    expect(headers).toMatchObject({
      'www-authenticate': 'Basic realm="zlb-exporter", charset="UTF-8"',
      connection: 'close',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'deny',
    });
  });

  it('is compared once for many requests at the same time, right or wrong', async () => {
    const thread = countingThread();
    const { ask } = await givenWebAccess(policy, { thread });

    for (const basic of ['alice:wonderland', 'alice:wrong', 'mallory:wrong']) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => outcomeOf(ask({ basic }))));
      answers.push(await outcomeOf(ask({ basic })));
      expect(new Set(answers).size).toBe(1);
    }

    expect(thread.hashes).toHaveLength(3);
  });

  it('of an unknown user is compared with an equally slow hash', async () => {
    const thread = countingThread();
    const { ask } = await givenWebAccess(policy, { thread });

    await ask({ basic: 'mallory:wonderland' });

    expect([...users.values()].map((hash) => hash.reveal())).toContain(thread.hashes[0]);
  });

  it('that is right stays cached despite wrong attempts', async () => {
    const thread = countingThread();
    const { ask } = await givenWebAccess(policy, { thread });
    await ask({ basic: 'alice:wonderland' });
    for (let i = 0; i < 150; i += 1) await ask({ basic: `mallory:${i}` });
    const before = thread.hashes.length;

    expect(await outcomeOf(ask({ basic: 'alice:wonderland' }))).toBe('let in');
    expect(thread.hashes.length).toBe(before);
    // The oldest of the wrong ones was forgotten, or they would fill the memory.
    expect(await outcomeOf(ask({ basic: 'mallory:0' }))).toBe(401);
    expect(thread.hashes.length).toBe(before + 1);
  });

  it('waits only in a short queue, with a limit per address', async () => {
    const { held, thread } = heldThread();
    const { ask } = await givenWebAccess(policy, { thread });
    const guess = (from: string, count: number) =>
      Array.from({ length: count }, (_, i) => outcomeOf(ask({ from, basic: `alice:${from} ${i}` })));
    const waitingAre = (count: number) =>
      until(
        () => held.length,
        (now) => now === count,
      );

    const flood = guess('127.0.0.2', 20);
    await waitingAre(8);
    const right = outcomeOf(ask({ basic: 'alice:wonderland' }));
    await waitingAre(9);
    const others = [guess('127.0.0.3', 8), guess('127.0.0.4', 8), guess('127.0.0.5', 7)].flat();
    await waitingAre(32);
    const oneMore = await ask({ from: '127.0.0.6', basic: 'bob:builder' });
    for (const [index, one] of held.entries()) one.resolve(index === 8);

    const ofFlood = Object.groupBy(await Promise.all(flood), String);
    expect([ofFlood['401']?.length, ofFlood['503']?.length]).toEqual([8, 12]);
    expect(await right).toBe('let in');
    expect(new Set(await Promise.all(others))).toEqual(new Set([401]));
    expect(oneMore).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });

  it('that cannot be compared is refused, and not counted as wrong', async () => {
    const { held, thread } = heldThread();
    const { ask, logged } = await givenWebAccess(policy, { thread });
    const compareNext = async (settle: (one: PromiseWithResolvers<boolean>) => void) => {
      const answer = outcomeOf(ask({ basic: 'alice:wonderland' }));
      settle((await until(() => held.shift(), Boolean))!);
      return await answer;
    };

    expect(await compareNext((one) => one.reject(new Error('out of memory')))).toBe(500);
    expect(await compareNext((one) => one.resolve(true))).toBe('let in');
    expect(logged.join('')).toContain('out of memory');
  });

  it('that takes long to compare delays no other request', async () => {
    const slow = givenUsers({ alice: 'wonderland' }, 13);
    const { ask } = await givenWebAccess({ users: new Map([...slow, ...givenUsers({ bob: 'builder' })]), headers: {} });
    await ask({ basic: 'bob:builder' });
    const slowly = outcomeOf(ask({ basic: 'alice:wonderland' }));
    const pending = Symbol('pending');

    let meanwhile = 0;
    while ((await Promise.race([slowly, Promise.resolve(pending)])) === pending) {
      expect(await outcomeOf(ask({ basic: 'bob:builder' }))).toBe('let in');
      meanwhile += 1;
    }

    expect(await slowly).toBe('let in');
    expect(meanwhile).toBeGreaterThan(5);
  });

  it('is not in the log, nor is its user name, and many wrong ones are few lines', async () => {
    const { ask, logged } = await givenWebAccess(policy);

    for (let i = 0; i < 20; i += 1) await ask({ basic: `CanaryUser${i}:CanaryPassword${i}` });

    expect(logged).toHaveLength(1);
    expect(logged.join('')).toContain('the user or the password is wrong');
    expect(logged.join('')).not.toContain('Canary');
    for (const hash of users.values()) expect(logged.join('')).not.toContain(hash.reveal());
  });
});
