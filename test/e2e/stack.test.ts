import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listeners, startStack } from '../support/given-stack.ts';
import { listening } from '../support/listening.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const isRunnable = isThere('prometheus') && isThere('prometheus-alertmanager');

describe.skipIf(!isRunnable)('npm run stack', () => {
  it('brings what the exporter knows to a notification, and leaves nothing behind', async () => {
    const stack = await startStack();
    const firing = /^[\d:]+ FIRING .*ZlbFarmDown lb-madrid legacy/m;

    const seen = await until(
      () => stack.stdout() + stack.stderr(),
      (text) => firing.test(text) || text.includes('stack: '),
      180_000,
    );
    expect(seen).toMatch(firing);
    for (const name of listeners) expect(seen, name).toContain(`http://${stack.addresses[name]}`);
    stack.stop();

    expect(await stack.ended).toBe(0);
    expect(stack.stdout()).toMatch(/\nStopped\.\n$/);
    expect(stack.stderr()).toBe('');
    expect(stack.leftovers()).toEqual([]);
  }, 240_000);

  it('says which flag changes a port that is taken, before it starts anything', async () => {
    const port = await listening(createServer());

    const stack = await startStack(`--prometheus.listen-address=127.0.0.1:${port}`);

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toBe(
      `stack: cannot listen on 127.0.0.1:${port} (EADDRINUSE); stop what uses it, or npm run stack -- --prometheus.listen-address=127.0.0.1:PORT\n`,
    );
  });

  it('says what to install when a program is missing', async () => {
    const stack = await startStack('--alertmanager=/nowhere/at-all');

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toContain('install it (Debian: apt-get install prometheus-alertmanager)');
    expect(stack.leftovers()).toEqual([]);
  });
});
