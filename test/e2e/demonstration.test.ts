import { expect, it } from 'vitest';
import { givenDemonstration } from '../support/process.ts';
import { valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

const demonstration = givenDemonstration();
const banner = 'These are simulated load balancers';
const pages = ['/', '/?appliance=lb-madrid', '/?appliance=lb-madrid&farm=shop', '/?q=nothing', '/?list=problems'];

it('says on top of every page, in the status and in the metrics that the load balancers are simulated', async () => {
  const url = demonstration();

  for (const path of pages) {
    const page = await (await fetch(`${url}${path}`)).text();
    expect(page.indexOf(banner), path).toBeGreaterThan(0);
    expect(page.indexOf(banner), path).toBeLessThan(page.indexOf('<main'));
    expect(page).toContain('npm start --silent -- init 192.0.2.10');
  }
  expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ demonstration: true });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nzlb_exporter_demonstration 1\n');
  expect(await (await fetch(`${url}/runbooks`)).text(), 'as it was started').toContain('npm start --silent -- admin ');
});

it('counts the requests of the simulated farms, and knows their names', async () => {
  const url = demonstration();

  const page = await until(
    async () => await (await fetch(`${url}/metrics`)).text(),
    (text) => /^zlb_requests_total\{appliance="lb-madrid",farm="shop",service="front",/m.test(text),
  );

  expect(valueOf(page, 'zlb_objective_ratio', { farm: 'shop', objective: 'latency' })).toBe(0.95);
  expect(page).not.toMatch(/^zlb_request_log_lines_total\{.*result="(?:other|unreadable|ambiguous)"\} [1-9]/m);
});
