import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isRecord } from '../lib/check.ts';
import { createTlsMaterial, type TlsMaterial, tlsMaterialOf } from '../simulator/tls.ts';
import { UsageError } from './command.ts';

/** What simulated appliances need so that a configuration for them stays valid. */
export interface SimulationState {
  readonly apiKey: string;
  readonly material: TlsMaterial;
  /** By name of the appliance; empty before the first start. */
  readonly ports: Readonly<Record<string, number>>;
}

const fileName = 'simulation.json';

export async function newSimulationState(apiKey: string | undefined): Promise<SimulationState> {
  return {
    apiKey: apiKey ?? randomBytes(16).toString('hex'),
    material: await createTlsMaterial(),
    ports: {},
  };
}

/** Reads the state that an earlier start left in a folder, which it makes. Resolves to undefined at the first start. */
export async function readSimulationState(folder: string): Promise<SimulationState | undefined> {
  const text = await inFolder(folder, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await readFile(join(folder, fileName), 'utf8').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
  });
  return text === undefined ? undefined : parseState(text, join(folder, fileName));
}

/** Writes the state and the configuration for its owner alone: both hold keys. An existing configuration stays. */
export async function writeSimulation(
  folder: string,
  { apiKey, material: { key, cert }, ports }: SimulationState,
  configuration: string,
): Promise<void> {
  await inFolder(folder, async () => {
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

async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = errorCode(error);
    if (code === '') throw error;
    throw new UsageError(`the folder ${folder} cannot be used: ${code}; name one that you may write to`);
  }
}
