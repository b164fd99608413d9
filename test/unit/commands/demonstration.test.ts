import { expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';
import { loadSettings } from '../../../src/app/load-settings.ts';
import { vipTargets } from '../../../src/collectors/vip-targets.ts';
import { watchedSimulation } from '../../../src/commands/demonstration/watched.ts';

it('the probe of the demonstration connects only to this machine, also for a newly created farm', async () => {
  const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'key', farmsListen: true });
  onTestFinished(() => appliance.close());
  const shown = { name: 'lb-madrid', about: '', logsFrom: '127.0.0.1', appliance };
  const content = watchedSimulation([shown], 'key', '127.0.0.1:0');
  const { vip } = (await loadSettings({ content, env: {} })).appliances[0]!;
  const farm = (name: string, address: string, vport: string) =>
    ({ name, vip: address, vport, profile: 'http', status: 'up', state: 'up' }) as const;
  const farms = [
    farm('shop', '192.0.2.40', '443'),
    farm('moved', '192.0.2.40', '999'),
    farm('new', '192.0.2.99', '80'),
  ];

  const targets = vipTargets({ farms, configOf: () => undefined, certificates: undefined }, vip, []);

  expect(targets.map(({ farm: name, endpoint }) => [name, endpoint?.address])).toEqual([
    ['shop', '127.0.0.1'],
    ['moved', '127.0.0.1'],
    ['new', undefined],
  ]);
});
