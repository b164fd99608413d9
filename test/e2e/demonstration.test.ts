import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { assert, expect, it } from 'vitest';
import { givenDemonstration } from '../support/process.ts';
import { valueOf } from '../support/samples.ts';
import { hasTerminals, runAtTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

interface Problem {
  readonly title: string;
  readonly level: string;
}

const demonstration = givenDemonstration();
const banner = 'These are simulated load balancers';
const pages = ['/', '/?appliance=lb-madrid', '/?appliance=lb-madrid&farm=shop', '/?q=nothing', '/?list=problems'];

it('the demonstration says on every page, in the status and in the metrics that it is simulated', async () => {
  const url = demonstration.url();

  for (const path of pages) {
    const page = await (await fetch(`${url}${path}`)).text();
    expect(page.indexOf(banner), path).toBeGreaterThan(0);
    expect(page.indexOf(banner), path).toBeLessThan(page.indexOf('<main'));
    expect(page).toContain('./zlb-exporter init 192.0.2.10');
  }
  expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ demonstration: true });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nzlb_exporter_demonstration 1\n');
  expect(await (await fetch(`${url}/runbooks`)).text(), 'as it was started').toContain('./zlb-exporter admin ');
});

it('the demonstration counts the requests of the simulated farms, under their names', async () => {
  const url = demonstration.url();

  const page = await until(
    async () => await (await fetch(`${url}/metrics`)).text(),
    (text) => /^zlb_requests_total\{appliance="lb-madrid",farm="shop",service="front",/m.test(text),
  );

  expect(valueOf(page, 'zlb_objective_ratio', { farm: 'shop', objective: 'latency' })).toBe(0.95);
  expect(page).not.toMatch(/^zlb_request_log_lines_total\{.*result="(?:other|unreadable|ambiguous)"\} [1-9]/m);
});

// The last one: it changes the simulated appliances.
it.skipIf(!hasTerminals)(
  'everything that the greeting of the demonstration suggests works, and makes no false claim on the page',
  async () => {
    const url = demonstration.url();
    const greeting = await until(demonstration.said, (text) => text.includes('Stop with Ctrl-C.'));
    const lines = greeting.split('\n').map((line) => line.trim());
    const places = lines
      .flatMap((line) => /^https?:\S+/.exec(line)?.[0] ?? [])
      .filter((each) => !each.endsWith('/metrics'));
    const commandWith = (words: string): string => {
      const found = lines.find((line) => line.startsWith('./zlb-exporter') && line.includes(words));
      assert(found !== undefined, `${words} in ${greeting}`);
      return found;
    };
    const tokens = lines.filter((line) => line.startsWith('export ZLB_ADMIN_TOKEN='));
    const inShell = (token: number, command: string): string =>
      [lines.find((line) => line.startsWith('export ZLB_ADMIN_URL=')), tokens[token], command].join('\n');
    const run = async (token: number, command: string): Promise<string> =>
      (await promisify(execFile)('sh', ['-c', inShell(token, command)])).stdout;
    const pageIs = async (farm: string): Promise<readonly string[]> => {
      const { appliances } = (await (await fetch(`${url}/api/status`)).json()) as {
        appliances: readonly { readonly name: string; readonly problems: readonly Problem[] }[];
      };
      const page = await (await fetch(`${url}/?appliance=lb-madrid`)).text();
      expect(page).not.toMatch(new RegExp(`${farm}</bdi> cannot be reached`));
      return appliances
        .find(({ name }) => name === 'lb-madrid')!
        .problems.filter(({ title }) => title.includes(farm))
        .map(({ level, title }) => `${level}: ${title}`);
    };
    const reached = (farm: string, value: number) =>
      until(
        async () => valueOf(await (await fetch(`${url}/metrics`)).text(), 'zlb_farm_reachable', { farm }),
        (seen) => seen === value,
        90_000,
      );

    for (const place of places) expect((await fetch(place)).status, place).toBe(200);
    expect(places).toHaveLength(3);

    expect(await run(0, commandWith('restart-farm farm=oldportal'))).toContain('oldportal is up');
    await reached('oldportal', 1);
    await until(
      () => pageIs('oldportal'),
      (problems) => problems.length === 0,
      90_000,
    );
    expect(await run(0, commandWith('admin audit'))).toContain('actOnFarm');

    const asked = await run(0, commandWith('restart-farm farm=payments --ask'));
    const [id = ''] = /ch-[a-z\d]+/.exec(asked) ?? [];
    expect(await pageIs('payments')).toEqual(['warning: Farm payments waits for a restart']);
    expect(await run(1, commandWith('admin changes'))).toContain(id);
    const approve = commandWith('changes approve ID').replace('ID', id);
    const { code, screen } = await runAtTerminal(
      ['sh', '-c', inShell(1, approve)],
      [{ question: '[y/N]', typed: 'y\n' }],
    );
    expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('payments is up') as string });
    await until(
      () => pageIs('payments'),
      (problems) => problems.length === 0,
      90_000,
    );
    await reached('payments', 1);
    expect(await pageIs('payments')).toEqual([]);
  },
  300_000,
);
