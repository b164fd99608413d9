import { genSaltSync, hashSync } from 'bcryptjs';
import { expect, it, onTestFinished } from 'vitest';
import { createBcryptThread } from '../../../src/web/password-check.ts';

const hash = hashSync('wonderland', genSaltSync(4));

function givenThread() {
  const thread = createBcryptThread();
  onTestFinished(() => thread.close());
  return thread;
}

it('compares each password with its own hash', async () => {
  const thread = givenThread();
  const other = hashSync('builder', genSaltSync(5));

  const matches = await Promise.all([
    thread.compare('wonderland', hash),
    thread.compare('wonderland', other),
    thread.compare('builder', other),
    thread.compare('', hash),
  ]);

  expect(matches).toEqual([true, false, true, false]);
});

it('takes the hashes that htpasswd and Go make', async () => {
  const thread = givenThread();

  for (const prefix of ['$2a$', '$2b$', '$2y$'])
    expect(await thread.compare('wonderland', hash.replace(/^\$2.\$/, prefix))).toBe(true);
});

it('fails what waits when it dies, and is there again for the next one', async () => {
  const thread = givenThread();
  const noPassword = JSON.parse('1');

  const outcomes = await Promise.allSettled([thread.compare(noPassword, hash), thread.compare('wonderland', hash)]);
  const next = await thread.compare('wonderland', hash);

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(next).toBe(true);
});

it('ends when it is closed, also while it compares', async () => {
  const thread = givenThread();
  const slow = hash.replace('$04$', '$15$');

  const comparing = thread.compare('wonderland', slow);
  await Promise.all([expect(comparing).rejects.toThrow('ended'), thread.close()]);
});
