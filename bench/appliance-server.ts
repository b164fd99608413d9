import { largeWorld } from '../src/simulator/scenarios.ts';
import { startSimulatedAppliance } from '../src/simulator/server.ts';

// The child process that is the appliance, called directly and through the gateway: it answers without a delay.
process.once('message', ({ apiKey }: { apiKey: string }) => void start(apiKey));
process.on('disconnect', () => process.exit());

async function start(apiKey: string): Promise<void> {
  const world = largeWorld({ farms: 200, backendsPerFarm: 2 });
  const { url } = await startSimulatedAppliance({ world, apiKey, latency: 'none' });
  process.send?.({ url });
}
