import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listeners } from '../../scripts/stack/flags.ts';
import { listening } from '../support/listening.ts';
import { startStack } from '../support/given-stack.ts';
import { freePort } from '../../bench/free-port.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const programs = [isThere('prometheus'), isThere('prometheus-alertmanager')];

async function ask<Data>(url: string): Promise<Data> {
  const response = await fetch(url);
  return ((await response.json()) as { data: Data }).data;
}

describe.skipIf(programs.includes(false))('npm run stack', () => {
  it('shows on one machine how what the exporter knows becomes a notification, and leaves nothing behind', async () => {
    const stack = await startStack();
    const prometheus = `http://${stack.addresses['prometheus']}/api/v1`;

    expect(await stack.started()).toContain(`http://${stack.addresses['prometheus']}/alerts`);
    expect(
      Math.max(
        ...stack
          .stdout()
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(100);
    for (const name of listeners) expect(stack.stdout(), name).toContain(`http://${stack.addresses[name]}`);
    const up = () =>
      ask<{ result: { value: [number, string] }[] }>(`${prometheus}/query?query=up{job="zlb"}`).then(({ result }) =>
        result.map(({ value }) => value[1]),
      );
    expect(await until(up, (seen) => seen.length > 0, 60_000)).toEqual(['1']);
    // A group that is seldom evaluated may not have had its turn for minutes.
    const rules = () =>
      ask<{ groups: { interval: number; rules: { name: string; health: string }[] }[] }>(`${prometheus}/rules`).then(
        ({ groups }) => groups.filter(({ interval }) => interval <= 60).flatMap((group) => group.rules),
      );
    const evaluated = await until(rules, (seen) => seen.every(({ health }) => health !== 'unknown'), 60_000);
    expect(evaluated.length).toBeGreaterThan(40);
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
    const alertmanagers = () =>
      ask<{ activeAlertmanagers: { url: string }[] }>(`${prometheus}/alertmanagers`).then(({ activeAlertmanagers }) =>
        activeAlertmanagers.map(({ url }) => new URL(url).host),
      );
    expect(await until(alertmanagers, (seen) => seen.length > 0, 60_000)).toEqual([stack.addresses['alertmanager']]);
    const sites = await until(
      () => ask<string[]>(`${prometheus}/label/site/values`),
      (seen) => seen.length === 4,
      60_000,
    );
    expect(sites).toEqual(['berlin', 'lisbon', 'madrid', 'paris']);
    await until(stack.stdout, (seen) => /^[\d:]+ FIRING .*ZlbWatchdog: /m.test(seen), 120_000);

    stack.stop('SIGTERM');

    expect(await stack.ended).toBe(0);
    expect(stack.stdout()).toMatch(/\nStopped\.\n$/);
    expect(stack.stderr()).toBe('');
    expect(stack.leftovers()).toEqual([]);
  }, 240_000);

  it('does not say that anything runs when it is stopped in the middle of its start', async () => {
    const stack = await startStack();
    await until(
      () => stack.pidOf('alertmanager.yml'),
      (pid) => pid > 0,
      60_000,
    );

    // As Ctrl-C does, to every program at once.
    process.kill(stack.pidOf('alertmanager.yml'), 'SIGINT');
    stack.stop('SIGINT');

    expect(await stack.ended).toBe(0);
    expect(stack.stdout() + stack.stderr()).toBe('Stopped.\n');
    expect(stack.leftovers()).toEqual([]);
  }, 90_000);

  it('ends with what died, below its last words', async () => {
    const stack = await startStack();
    await stack.started();

    process.kill(stack.pidOf('src/main.ts'), 'SIGKILL');

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toMatch(
      /^stack: the last that the exporter wrote:\n(?: {2}\{.*\}\n)+stack: the exporter ended: SIGKILL; everything was stopped\n$/,
    );
    expect(stack.stdout()).not.toContain('Stopped.');
    expect(stack.leftovers()).toEqual([]);
  }, 90_000);

  it('says which flag changes a port that is taken, before it starts anything', async () => {
    const port = await listening(createServer());

    const stack = await startStack(`--prometheus.listen-address=127.0.0.1:${port}`);

    expect(await stack.ended).toBe(1);
    expect(stack.stdout()).toBe('');
    expect(stack.stderr()).toContain(
      `stack: 127.0.0.1:${port} is taken; stop what uses it, or choose another: npm run stack -- --prometheus.listen-address=127.0.0.1:PORT;`,
    );
  });

  it('names the two flags that would have one port', async () => {
    const port = await freePort();

    const stack = await startStack(`--exporter.listen-address=:${port}`, `--gateway.listen-address=127.0.0.1:${port}`);

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toBe(
      `stack: --exporter.listen-address=:${port} and --gateway.listen-address=127.0.0.1:${port} would be one port for two; choose another: npm run stack -- --gateway.listen-address=127.0.0.1:PORT\n`,
    );
  });

  it('lets the exporter listen on every address, as the exporter itself does', async () => {
    const port = await freePort();

    const stack = await startStack(`--exporter.listen-address=:${port}`);

    expect(await stack.started()).toContain(`http://127.0.0.1:${port}/ `);
    expect((await fetch(`http://127.0.0.1:${port}/-/healthy`)).status).toBe(200);
    const targets = () =>
      ask<{ activeTargets: { scrapeUrl: string }[] }>(`http://${stack.addresses['prometheus']}/api/v1/targets`).then(
        ({ activeTargets }) => activeTargets.map(({ scrapeUrl }) => scrapeUrl),
      );
    expect(await until(targets, (seen) => seen.length > 0)).toEqual([`http://127.0.0.1:${port}/metrics`]);
  }, 90_000);

  it('keeps the gateway, whose tokens are not encrypted here, to this machine', async () => {
    const stack = await startStack('--gateway.listen-address=:9445');

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toContain(
      'stack: --gateway.listen-address=:9445 would let tokens cross the network in clear text;',
    );
  });

  it.each([
    {
      what: 'a folder',
      path: '/tmp',
      says: 'cannot start Prometheus (/tmp): EACCES; give a file that may be executed',
    },
    {
      what: 'another program',
      path: '/bin/true',
      says: 'Prometheus ended at its start: exit code 0, and wrote nothing; is /bin/true the right program?',
    },
  ])(
    'says that $what is no Prometheus',
    async ({ path, says }) => {
      const stack = await startStack(`--prometheus=${path}`);

      expect(await stack.ended).toBe(1);
      expect(stack.stderr()).toContain(`stack: ${says}`);
      expect(stack.leftovers()).toEqual([]);
    },
    60_000,
  );

  it.each([
    { flag: '--prometheus', name: 'Prometheus', debian: 'prometheus' },
    { flag: '--alertmanager', name: 'Alertmanager', debian: 'prometheus-alertmanager' },
  ])('says what to install when there is no $name, and leaves nothing behind', async ({ flag, name, debian }) => {
    const stack = await startStack(`${flag}=/nowhere/at-all`);

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toBe(
      `stack: cannot start ${name} (/nowhere/at-all): ENOENT; install it (Debian: apt-get install ${debian}), or give its path with ${flag}=PATH\n`,
    );
    expect(stack.leftovers()).toEqual([]);
  });

  it('refuses a flag that it does not know', async () => {
    const stack = await startStack('--promethius=/usr/bin/prometheus');

    expect(await stack.ended).toBe(1);
    expect(stack.stderr()).toBe(`stack: Unknown option '--promethius'; npm run stack -- --help lists the flags\n`);
  });
});
