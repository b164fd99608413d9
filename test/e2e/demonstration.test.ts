import { expect, it } from 'vitest';
import { busyWorld } from '../../src/simulator/scenarios.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { startExporter } from '../support/process.ts';

const banner = 'These are simulated load balancers';
const pages = ['/', '/?appliance=lb-madrid', '/?appliance=lb-madrid&farm=shop', '/?q=nothing', '/?list=problems'];

it('says on top of every page, in the status and in the metrics that the load balancers are simulated', async () => {
  const url = await startExporter(['--web.listen-address=127.0.0.1:0']).url();

  for (const path of pages) {
    const page = await (await fetch(`${url}${path}`)).text();
    expect(page.indexOf(banner), path).toBeGreaterThan(0);
    expect(page.indexOf(banner), path).toBeLessThan(page.indexOf('<main'));
    expect(page).toContain('npm start --silent -- --config.file=zlb.yml');
  }
  expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ demonstration: true });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nzlb_exporter_demonstration 1\n');
  expect(await (await fetch(`${url}/runbooks`)).text(), 'as it was started').toContain('npm start --silent -- admin ');
}, 60_000);

it('says nothing of that where appliances are configured', async () => {
  const { url } = await givenExporter({ 'lb-madrid': busyWorld() });

  for (const path of pages) expect(await (await fetch(`${url}${path}`)).text()).not.toContain('simulated');
  expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ demonstration: false });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nzlb_exporter_demonstration 0\n');
  expect(await (await fetch(`${url}/runbooks`)).text()).toContain('zlb-exporter admin ');
});
