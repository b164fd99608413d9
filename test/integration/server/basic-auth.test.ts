import { describe, expect, it } from 'vitest';
import type { BcryptThread } from '../../../src/server/password-check.ts';
import { givenUsers, givenWebAccess, outcomeOf } from '../../support/given-web-access.ts';
import { untilIs } from '../../support/until.ts';

const users = givenUsers({ alice: 'wonderland', böb: 'pässwörd:with:colons' });
const policy = { users, headers: {} };

/** Creates a thread that compares on command. */
function heldThread() {
  const held: PromiseWithResolvers<boolean>[] = [];
  const thread: BcryptThread = {
    request() {
      const one = Promise.withResolvers<boolean>();
      held.push(one);
      return one.promise;
    },
    terminate: async () => undefined,
  };
  return { held, thread };
}

describe('a password', () => {
  it('grants access only together with its user, also from the cache', async () => {
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

  it('is requested as browsers and Prometheus expect, and the connection is closed', async () => {
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

  it('is refused with 503 or 500 when it cannot be compared now, or at all', async () => {
    const { held, thread } = heldThread();
    const { ask, logged } = await givenWebAccess(policy, { thread });

    const waiting = Array.from({ length: 8 }, (_, i) => ask({ basic: `alice:${i}` }));
    await untilIs(() => held.length, 8);
    const oneMore = await ask({ basic: 'alice:one more' });
    for (const one of held) one.reject(new Error('out of memory'));
    const failed = await Promise.all(waiting);

    expect(oneMore).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(failed.map(({ status }) => status)).toEqual(Array.from(waiting, () => 500));
    expect(logged.join('')).toContain('out of memory');
  });

  it('is not logged, nor is its user name, and many wrong ones are logged in few lines', async () => {
    const { ask, logged } = await givenWebAccess(policy);

    for (let i = 0; i < 20; i += 1) await ask({ basic: `CanaryUser${i}:CanaryPassword${i}` });

    expect(logged).toHaveLength(1);
    expect(logged.join('')).toContain('the user or the password is wrong');
    expect(logged.join('')).not.toContain('Canary');
    for (const hash of users.values()) expect(logged.join('')).not.toContain(hash.reveal());
  });
});
