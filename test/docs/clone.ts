import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { localPrometheusConfiguration } from '../../scripts/stack/configuration.ts';
import { createActivationCertificate } from '../../simulator/replies/activation.ts';
import { makeMaterial } from '../support/tls-server.ts';
import type { Appliances } from './appliances.ts';
import { root } from './documents.ts';
import { layOutPrograms } from './programs.ts';
import type { TlsMaterial } from '../../simulator/tls.ts';

export interface CloneParts {
  readonly folder: string;
  readonly appliances: Appliances;
  readonly apiKey: string;
  /** The digest of the token of the user. */
  readonly sha256: string;
  readonly served: TlsMaterial;
  readonly exporterAddress: string;
  readonly gatewayAddress: string;
}

const dayMs = 86_400_000;

/**
 * Lays out a clone, and beside what is in it the files that the documents suppose their reader to
 * have.
 */
export async function layOutClone(parts: CloneParts): Promise<void> {
  const { folder } = parts;
  for (const name of ['alerts', 'deploy', 'dashboards'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ['src', 'simulator', 'scripts', 'docs', 'node_modules', 'package.json'])
    symlinkSync(join(root, name), join(folder, name));
  for (const name of ['bin', 'secrets', 'data']) mkdirSync(join(folder, name));
  layOutPrograms(join(folder, 'bin'));
  symlinkSync(join('bin', 'zlb-exporter'), join(folder, 'zlb-exporter'));
  for (const [name, text] of Object.entries({ ...configurations(parts), ...certificates(parts) }))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
}

/** JSON is YAML. */
function configurations({ appliances, apiKey, sha256, exporterAddress, gatewayAddress }: CloneParts) {
  const watched = [...appliances.all].map(([name, { url, fingerprintSha256 }]) => ({
    name,
    url,
    api_key_file: 'secrets/lb-paris',
    tls: { fingerprint_sha256: fingerprintSha256 },
    labels: { site: name.split('-')[1] },
  }));
  const admin = {
    listen_address: gatewayAddress,
    journal_file: 'data/journal.db',
    // The reader is alone.
    approvals: { self_approval: true },
    tokens: [{ name: 'alice', sha256, role: 'admin', approver: true }],
  };
  const deployed = readFileSync(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8');
  const addresses = { exporter: exporterAddress, alertmanager: 'localhost:9093' };
  return {
    'secrets/lb-paris': apiKey,
    'running.yml': JSON.stringify({ appliances: watched, admin }),
    // The files that a reader checks are right: the gateway is that of the running exporter, and no
    // trial is over.
    'zlb.yml': JSON.stringify({ appliances: watched.filter(({ name }) => name !== 'lb-lisbon') }),
    'web.yml': JSON.stringify({ tls_server_config: { cert_file: 'server.crt', key_file: 'server.key' } }),
    'prometheus.yml': localPrometheusConfiguration(deployed, addresses),
    ...Object.fromEntries(ruleFiles.map((name) => [name, readFileSync(join(root, 'alerts', name))])),
  };
}

function certificates({ served }: CloneParts) {
  const withKey = (name: string) => {
    const { key, cert } = makeMaterial({ name });
    return `${cert.trim()}\n${key.trim()}\n`;
  };
  return {
    'server.crt': served.cert,
    'server.key': served.key,
    'shop-2027.pem': withKey('shop.example.com'),
    'portal-2027.pem': withKey('portal.example.com'),
    'activation.pem': createActivationCertificate({
      kind: 'permanent',
      hostname: 'lb-lisbon',
      notBefore: Date.now() - dayMs,
      notAfter: Date.now() + 600 * dayMs,
    }),
  };
}
