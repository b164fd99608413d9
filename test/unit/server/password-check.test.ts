import { genSaltSync, hashSync } from 'bcryptjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/lib/secret.ts';
import { createBcryptThread, createPasswordCheck } from '../../../src/server/password-check.ts';

const hash = hashSync('wonderland', genSaltSync(4));

function givenThread() {
  const thread = createBcryptThread();
  onTestFinished(() => thread.terminate());
  return { thread, compare: (password: string, hash: string) => thread.request({ password, hash }) };
}

it('the password check compares each password with its own hash', async () => {
  const { compare } = givenThread();
  const other = hashSync('builder', genSaltSync(5));

  const matches = await Promise.all([
    compare('wonderland', hash),
    compare('wonderland', other),
    compare('builder', other),
    compare('', hash),
  ]);

  expect(matches).toEqual([true, false, true, false]);
});

it('the password check accepts the hashes of htpasswd and Go', async () => {
  const { compare } = givenThread();

  for (const prefix of ['$2a$', '$2b$', '$2y$'])
    expect(await compare('wonderland', hash.replace(/^\$2.\$/, prefix))).toBe(true);
});

it('the password check fails waiting attempts when its worker dies, and restarts for the next one', async () => {
  const { compare } = givenThread();
  const noPassword = JSON.parse('1');

  const outcomes = await Promise.allSettled([compare(noPassword, hash), compare('wonderland', hash)]);
  const next = await compare('wonderland', hash);

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(next).toBe(true);
});

it('the password check ends when it is closed, even during a comparison', async () => {
  const { thread, compare } = givenThread();
  const slow = hash.replace('$04$', '$15$');

  const comparing = compare('wonderland', slow);
  await Promise.all([expect(comparing).rejects.toThrow('ended'), thread.terminate()]);
});

/** A check whose comparisons wait until the test says what comes out. */
function givenCheck() {
  const users = new Map([['alice', new Secret('hash of alice')]]);
  const held: (PromiseWithResolvers<boolean> & { readonly hash: string })[] = [];
  const check = createPasswordCheck({
    request({ hash }) {
      const one = { ...Promise.withResolvers<boolean>(), hash };
      held.push(one);
      return one.promise;
    },
  });
  return {
    users,
    held,
    check: (user: string, password: string, from = '192.0.2.1') => check(users, { user, password, from }),
  };
}

describe('a password attempt', () => {
  it.each([
    [true, 'right'],
    [false, 'wrong'],
  ])('is compared once when it arrives many times at once: %s is %s', async (matches, result) => {
    const { held, check } = givenCheck();

    const attempts = Array.from({ length: 5 }, () => check('alice', 'wonderland'));
    held[0]?.resolve(matches);

    expect(await Promise.all(attempts)).toEqual(Array(5).fill(result));
    expect(held).toHaveLength(1);
  });

  it('takes the same time for an unknown user, and is always wrong', async () => {
    const { held, check } = givenCheck();

    const attempt = check('mallory', 'wonderland');
    held[0]?.resolve(true);

    expect([await attempt, held[0]?.hash]).toEqual(['wrong', 'hash of alice']);
  });

  it('stays cached once it was right, while wrong ones are compared again', async () => {
    const { held, check } = givenCheck();
    const right = check('alice', 'wonderland');
    held.shift()?.resolve(true);
    await right;
    for (let count = 0; count < 150; count += 1) {
      const wrong = check('mallory', String(count));
      held.shift()?.resolve(false);
      await wrong;
    }

    expect(await check('alice', 'wonderland')).toBe('right');
    void check('mallory', '149');
    expect(held).toHaveLength(1);
  });

  it('stays cached while it is used, and others are evicted after a hundred', async () => {
    const { users, held, check } = givenCheck();
    const login = async (user: string) => {
      users.set(user, new Secret(`hash of ${user}`));
      const attempt = check(user, 'wonderland');
      held.shift()?.resolve(true);
      await attempt;
    };
    for (let count = 0; count < 100; count += 1) await login(`user ${count}`);

    await login('user 0');
    await login('user 100');

    expect(await check('user 0', 'wonderland')).toBe('right');
    void check('user 1', 'wonderland');
    expect(held).toHaveLength(1);
  });

  it('is compared with the new hash after a reload', async () => {
    const { users, held, check } = givenCheck();
    const before = check('alice', 'wonderland');
    held[0]?.resolve(true);
    await before;

    users.set('alice', new Secret('hash of another password'));
    const after = check('alice', 'wonderland');
    held[1]?.resolve(false);

    expect([await before, await after]).toEqual(['right', 'wrong']);
  });

  it('waits only in a short queue, with a limit for each network', async () => {
    const { held, check } = givenCheck();
    const guess = (from: string) => Array.from({ length: 9 }, (_, count) => check('alice', `${from} ${count}`, from));

    const attempts = ['a', 'b', 'c', 'd'].flatMap(guess);
    const oneMore = await check('alice', 'wonderland', 'e');
    for (const one of held) one.resolve(false);

    expect((await Promise.all(attempts)).filter((result) => result === 'wrong')).toHaveLength(32);
    expect([held.length, await attempts[8], oneMore]).toEqual([32, 'busy', 'busy']);
  });

  it('does not count as wrong when it could not be compared', async () => {
    const { held, check } = givenCheck();

    const failed = check('alice', 'wonderland');
    held.shift()?.reject(new Error('out of memory'));
    await expect(failed).rejects.toThrow('out of memory');
    const again = check('alice', 'wonderland');
    held.shift()?.resolve(true);

    expect(await again).toBe('right');
  });
});
