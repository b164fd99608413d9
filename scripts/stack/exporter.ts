import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { makeToken } from '../../src/commands/token.ts';
import { createCertificate } from '../../simulator/certificate.ts';
import { type DemonstrationAppliance, startDemonstration } from '../../simulator/demo.ts';
import { type Program, startProgram } from './program.ts';
import { reachable } from './addresses.ts';
import { ready } from './server.ts';

export interface WatchedAppliances {
  readonly appliances: readonly DemonstrationAppliance[];
  readonly tokens: StackTokens;
  readonly exporter: Program;
  close(): Promise<void>;
}

/** Tokens of the gateway. */
export interface StackTokens {
  /** For everything. */
  readonly demo: string;
  /** Another person, who approves. */
  readonly approver: string;
}

export interface ExporterStart {
  readonly folder: string;
  /** `host:port`, or `:port` for every address. */
  readonly address: string;
  readonly gatewayAddress: string;
  /** The digest of Alertmanager's token. */
  readonly alertmanagerSha256: string;
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/**
 * Starts the demonstration's appliances, and the exporter on them as it is run in earnest: a
 * process with a file.
 */
export async function startExporter(start: ExporterStart): Promise<WatchedAppliances> {
  const { folder, address, gatewayAddress, alertmanagerSha256 } = start;
  await mkdir(folder, { recursive: true });
  const apiKey = randomBytes(16).toString('hex');
  const [demo, approver] = [makeToken(), makeToken()];
  const simulation = await startDemonstration({ apiKey, latency: 'realistic' });
  try {
    await writeFile(join(folder, 'api-key'), apiKey, { mode: 0o600 });
    await renew(join(folder, 'renewed'), 'soon.example.com');
    await writeFile(
      join(folder, 'zlb.yml'),
      stringify({
        appliances: simulation.appliances.map(({ name, appliance }) => ({
          name,
          url: appliance.url,
          api_key_file: 'api-key',
          tls: { fingerprint_sha256: appliance.fingerprintSha256 },
          labels: { site: name.split('-')[1] },
        })),
        admin: {
          listen_address: gatewayAddress,
          audit_file: 'audit.jsonl',
          approvals: { certificates_folder: 'renewed' },
          tokens: [
            { name: 'demo', sha256: demo.sha256, role: 'admin' },
            { name: 'approver', sha256: approver.sha256, role: 'admin', approver: true },
            { name: 'alertmanager', sha256: alertmanagerSha256, role: 'alertmanager' },
          ],
        },
      }),
    );
    const exporter = await startProgram({
      name: 'the exporter',
      command: process.execPath,
      args: [main, `--config.file=${join(folder, 'zlb.yml')}`, `--web.listen-address=${address}`],
      remedy: 'is Node.js still where it was?',
    });
    try {
      await ready(exporter, `http://${reachable(address)}/-/healthy`);
      // The gateway listens after it.
      await ready(exporter, `http://${reachable(gatewayAddress)}/console`);
    } catch (error) {
      await exporter.stop();
      throw error;
    }
    return {
      appliances: simulation.appliances,
      tokens: { demo: demo.token, approver: approver.token },
      exporter,
      async close() {
        await exporter.stop();
        await simulation.close();
      },
    };
  } catch (error) {
    await simulation.close();
    throw error;
  }
}

/** Stores a new certificate for a name as an ACME client does. */
async function renew(folder: string, name: string): Promise<void> {
  const { cert, key } = createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 90 * 86_400_000),
  });
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'fullchain.pem'), cert);
  await writeFile(join(folder, name, 'privkey.pem'), key, { mode: 0o600 });
}
