import { randomBytes } from 'node:crypto';
import { type Demonstration, startDemonstration } from '../../../simulator/demo.ts';
import { beginFaults, type FaultSwitch, startFaultSwitch, UnknownFaultError } from '../../../simulator/fault-switch.ts';
import { type Command, untilStopped } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** Only the simulated appliances, for trying another client or a configuration on them. */
export const simulate: Command = async ({ flags, stopped, say, env }) => {
  const apiKey = env.ZLB_API_KEY ?? randomBytes(16).toString('hex');
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  const faults = await startFaults(simulation, flags.fault).catch(async (error: unknown) => {
    await simulation.close();
    throw error;
  });
  say('# Simulated appliances; a configuration that watches them until they are stopped:');
  say(configurationOf(simulation, apiKey));
  say('# Cause a fault, end it, list them (docs/command-line.md):');
  say(`#   curl -X PUT ${faults.url}/lb-madrid/hung-proxy/shop`);
  say(`#   curl -X DELETE ${faults.url}/lb-madrid/hung-proxy/shop`);
  say(`#   curl ${faults.url}`);
  say('# Stop with Ctrl-C.');
  await untilStopped(stopped, faults, simulation);
  return 0;
};

async function startFaults({ appliances }: Demonstration, wanted = ''): Promise<FaultSwitch> {
  try {
    await beginFaults(appliances, wanted);
  } catch (error) {
    throw error instanceof UnknownFaultError ? new UsageError(`--fault: ${error.message.trimEnd()}`) : error;
  }
  return await startFaultSwitch(appliances);
}

function configurationOf({ appliances }: Demonstration, apiKey: string): string {
  const entries = appliances.map(({ name, about, appliance }) => [
    `  - name: ${name}   # ${about}`,
    `    url: ${appliance.url}`,
    `    api_key: ${apiKey}`,
    `    tls: { fingerprint_sha256: ${appliance.fingerprintSha256} }`,
  ]);
  return ['appliances:', ...entries.flat()].join('\n');
}
