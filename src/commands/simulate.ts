import { join } from 'node:path';
import { errorCode } from '../lib/check.ts';
import { type Demonstration, startDemonstration } from '../simulator/demo.ts';
import { createTlsMaterial } from '../simulator/tls.ts';
import { type Command, UsageError } from './command.ts';
import { newSimulationState, readSimulationState, type SimulationState, writeSimulation } from './simulation-state.ts';
import { untilStopped } from './until-stopped.ts';

/** Only the simulated appliances, for trying another client or a configuration on them. */
export const simulate: Command = async ({ arguments: [folder, ...more], stopped, say, env }) => {
  if (more.length > 0) throw new UsageError('name one folder: zlb-exporter simulate FOLDER');
  const kept = folder === undefined ? undefined : await readSimulationState(folder);
  if (kept && env.ZLB_API_KEY !== undefined && env.ZLB_API_KEY !== kept.apiKey)
    throw new UsageError(`ZLB_API_KEY is not the key in ${folder}; unset it, or name another folder`);
  const state = kept ?? (await newSimulationState(env.ZLB_API_KEY));
  const simulation = await start(state);
  const configuration = configurationOf(simulation, state.apiKey);
  if (folder !== undefined) {
    const ports = Object.fromEntries(
      simulation.appliances.map(({ name, appliance }) => [name, Number(new URL(appliance.url).port)]),
    );
    await writeSimulation(folder, { ...state, ports }, configuration);
  }
  say('Simulated appliances; a configuration that watches them:');
  say('');
  say(configuration);
  say(
    folder === undefined
      ? 'The next start has other ports, another key and another certificate; simulate FOLDER keeps them.'
      : `It stays valid after a restart: zlb-exporter --config.file=${join(folder, 'zlb.yml')}`,
  );
  say('Stop with Ctrl-C.');
  await untilStopped(stopped, simulation);
  return 0;
};

async function start({ apiKey, material, ports }: SimulationState): Promise<Demonstration> {
  const tls = { usual: material, expired: await createTlsMaterial({ expired: true }) };
  try {
    return await startDemonstration({ apiKey, latency: 'realistic', tls, ports });
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    const port = error instanceof Error && 'port' in error ? Number(error.port) : 0;
    const [name = 'an appliance'] = Object.entries(ports).find(([, each]) => each === port) ?? [];
    throw new UsageError(`port ${port} of ${name} is in use; stop what uses it, or name another folder`);
  }
}

function configurationOf({ appliances }: Demonstration, apiKey: string): string {
  const entries = appliances.map(({ name, about, appliance }) => [
    `  - name: ${name}   # ${about}`,
    `    url: ${appliance.url}`,
    `    api_key: ${apiKey}`,
    `    tls: { fingerprint_sha256: ${appliance.fingerprintSha256} }`,
  ]);
  return ['appliances:', ...entries.flat(), ''].join('\n');
}
