import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startStack } from '../support/given-stack.ts';
import { listening } from '../support/listening.ts';
import { isThere } from '../support/programs.ts';

const isRunnable = isThere('prometheus') && isThere('prometheus-alertmanager');

describe.skipIf(!isRunnable)('npm run stack', () => {
  it('says which flag changes an occupied port, before it starts anything', async () => {
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
