import { randomBytes } from 'node:crypto';
import { startDemonstration } from '../simulator/demo.ts';
import type { Command } from './command.ts';
import { untilStopped } from './until-stopped.ts';

/** Only the simulated appliances, for trying another client or a configuration on them. */
export const simulate: Command = async ({ stopped, say, env }) => {
  const apiKey = env.ZLB_API_KEY ?? randomBytes(16).toString('hex');
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  say('Simulated appliances; a configuration that watches them:');
  say('');
  say('appliances:');
  for (const { name, about, appliance } of simulation.appliances) {
    say(`  - name: ${name}   # ${about}`);
    say(`    url: ${appliance.url}`);
    say(`    api_key: ${apiKey}`);
    say(`    tls: { fingerprint_sha256: ${appliance.fingerprintSha256} }`);
  }
  say('');
  say('Stop with Ctrl-C.');
  await untilStopped(stopped, simulation);
  return 0;
};
