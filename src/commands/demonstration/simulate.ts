import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { errorCode, isRecord } from '../../lib/check.ts';
import { type Demonstration, startDemonstration } from '../../../simulator/demo.ts';
import type { Port } from '../../../simulator/listener.ts';
import { beginFaults, type FaultSwitch, startFaultSwitch, UnknownFaultError } from '../../../simulator/fault-switch.ts';
import { createTlsMaterial, expiredMaterial, type TlsMaterial, tlsMaterialOf } from '../../../simulator/tls.ts';
import { type Command, untilStopped, UsageError } from '../command.ts';

/** Only the simulated appliances, for trying another client or a configuration on them. */
export const simulate: Command = async ({ arguments: [folder, ...more], flags, stopped, printOut, env }) => {
  if (more.length > 0) throw new UsageError('name one folder: zlb-exporter simulate FOLDER');
  const kept = folder === undefined ? undefined : await readSimulationState(folder);
  if (kept && env.ZLB_API_KEY && env.ZLB_API_KEY !== kept.apiKey)
    throw new UsageError(`ZLB_API_KEY is not the key in ${folder}; unset it, or name another folder`);
  const apiKey = env.ZLB_API_KEY || randomBytes(16).toString('hex');
  const state = kept ?? { apiKey, material: createTlsMaterial(), ports: {} };
  const portOf = (name: string): Port => state.ports[name] ?? (folder === undefined ? 0 : 'lasting');
  const simulation = await start(state, portOf);
  const { appliances } = simulation;
  // A file must stay valid when a fault has ended; what is only printed fits the faults of now.
  const withoutFaults = folder === undefined ? undefined : configurationOf(simulation, state.apiKey);
  const faults = await startFaults(appliances, portOf('faults'), flags.fault).catch(async (error: unknown) => {
    await simulation.close();
    throw error;
  });
  const configuration = withoutFaults ?? configurationOf(simulation, state.apiKey);
  if (folder !== undefined) {
    const ports = Object.fromEntries(
      appliances.map(({ name, appliance }) => [name, Number(new URL(appliance.url).port)]),
    );
    await writeSimulation(
      folder,
      { ...state, ports: { ...ports, faults: Number(new URL(faults.url).port) } },
      configuration,
    );
  }
  printOut('Simulated appliances; a configuration that watches them:');
  printOut('');
  printOut(configuration);
  printOut(
    folder === undefined
      ? 'The next start has other ports, another key and another certificate; simulate FOLDER keeps them.'
      : `It stays valid after a restart: zlb-exporter --config.file=${join(folder, 'zlb.yml')}`,
  );
  printOut('Cause a fault, end it, list them (docs/command-line.md):');
  printOut(`  curl -X PUT ${faults.url}/lb-madrid/hung-proxy/shop`);
  printOut(`  curl -X DELETE ${faults.url}/lb-madrid/hung-proxy/shop`);
  printOut(`  curl ${faults.url}`);
  printOut('Stop with Ctrl-C.');
  await untilStopped(stopped, faults, simulation);
  return 0;
};

async function startFaults(appliances: Demonstration['appliances'], port: Port, wanted = ''): Promise<FaultSwitch> {
  try {
    await beginFaults(appliances, wanted);
  } catch (error) {
    throw error instanceof UnknownFaultError ? new UsageError(`--fault: ${error.message.trimEnd()}`) : error;
  }
  return await startFaultSwitch(appliances, port);
}

async function start(
  { apiKey, material, ports }: SimulationState,
  portOf: (name: string) => Port,
): Promise<Demonstration> {
  const tls = { usual: material, expired: expiredMaterial(material) };
  try {
    return await startDemonstration({ apiKey, latency: 'realistic', tls, portOf });
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
    // Their farms are not there, and the collector vip would look for them off this machine.
    '    vip: { networks: [127.0.0.0/8] }',
  ]);
  return ['appliances:', ...entries.flat(), ''].join('\n');
}

/** State of simulated appliances that keeps a configuration for them valid. */
interface SimulationState {
  readonly apiKey: string;
  readonly material: TlsMaterial;
  /** The ports by name of the appliance, and of `faults`; empty before the first start. */
  readonly ports: Readonly<Record<string, number>>;
}

const fileName = 'simulation.json';

/**
 * Reads the state that an earlier start left in a folder, which it makes. Resolves to undefined at
 * the first start.
 */
async function readSimulationState(folder: string): Promise<SimulationState | undefined> {
  const text = await withFolderErrors(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await readFile(join(folder, fileName), 'utf8').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
  });
  return text === undefined ? undefined : parseState(text, join(folder, fileName));
}

/**
 * Writes the state and the configuration only for its owner: both hold keys. An existing
 * configuration stays.
 */
async function writeSimulation(
  folder: string,
  { apiKey, material: { key, cert }, ports }: SimulationState,
  configuration: string,
): Promise<void> {
  await withFolderErrors(folder, async () => {
    const text = `${JSON.stringify({ apiKey, ports, key, cert }, null, 2)}\n`;
    await writeFile(join(folder, fileName), text, { mode: 0o600 });
    await writeFile(join(folder, 'zlb.yml'), configuration, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  });
}

function parseState(text: string, path: string): SimulationState {
  try {
    const { apiKey, ports, key, cert }: Readonly<Record<string, unknown>> = JSON.parse(text);
    if (typeof apiKey === 'string' && typeof key === 'string' && typeof cert === 'string' && isPorts(ports))
      return { apiKey, ports, material: tlsMaterialOf(key, cert) };
  } catch {
    // Not JSON, or no certificate: damaged as well.
  }
  throw new UsageError(`${path} is damaged: remove it, and the appliances get new addresses and a new key`);
}

function isPorts(value: unknown): value is Readonly<Record<string, number>> {
  return isRecord(value) && Object.values(value).every((port) => Number.isInteger(port) && Number(port) < 65_536);
}

async function withFolderErrors<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = errorCode(error);
    if (code === '') throw error;
    throw new UsageError(`the folder ${folder} cannot be used: ${code}; name one that you may write to`);
  }
}
