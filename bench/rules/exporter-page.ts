import { startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import { makeToken } from '../../src/commands/token.ts';
import { until } from '../../test/support/until.ts';
import { clone, startExporter } from '../exporter.ts';
import { freePort } from '../../test/support/free-port.ts';

/**
 * /metrics of the whole exporter, its gateway included, once every collector has read one appliance
 * in this state.
 */
export async function readExporterPage(world: World): Promise<string> {
  const apiKey = 'benchmark0123456789';
  const gateway = `127.0.0.1:${await freePort()}`;
  const appliance = await startSimulatedAppliance({ world, apiKey, farmsListen: true });
  const vip = { connect_to: appliance.farms?.addresses ?? {}, networks: ['192.0.2.0/24', '127.0.0.1'] };
  // The first run of the collector vip does not know the certificates yet, so the second comes soon.
  const second = (new Date().getSeconds() + 15) % 60;
  const exporter = await startExporter(clone, {
    appliances: [{ name: 'lb', url: appliance.url, api_key: apiKey, tls: { insecure_skip_verify: true }, vip }],
    collectors: { vip: { enabled: true, schedule: `${second} * * * * *` } },
    polling: { max_busy_ratio: 1, jitter: '0%' },
    admin: {
      listen_address: gateway,
      journal_file: 'journal.db',
      tokens: [{ name: 'benchmark', sha256: makeToken().sha256, role: 'admin' }],
    },
  });
  // A refusal, so that the counter of refusals is there. The gateway opens its journal before it listens.
  await until(
    () =>
      fetch(`http://${gateway}/appliances`)
        .then(() => true)
        .catch(() => false),
    (isThere) => isThere,
  );
  const page = await until(
    async () => (await fetch(`${exporter.url}/metrics`)).text(),
    (text) => text.includes('zlb_farm_served_certificate_in_store{'),
    400_000,
  );
  await exporter.stop();
  await appliance.close();
  return page;
}
