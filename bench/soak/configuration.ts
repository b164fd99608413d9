import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { createTlsMaterial, type TlsMaterial } from '../../simulator/tls.ts';
import type { StartedAppliance } from './appliance-process.ts';
import { adminKeyOf, apiKeyOf, canary } from './canaries.ts';
import type { Pace } from './plan.ts';

/** The keys of an entry of `appliances`. */
export interface ApplianceEntry {
  readonly name: string;
  readonly [key: string]: unknown;
}

/**
 * The files of an exporter in a folder of their own, with TLS and passwords. All that can be secret
 * there is a canary.
 */
export interface Configuration {
  readonly folder: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Sent with each scrape. */
  readonly scrapeHeaders: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  write(entries: readonly ApplianceEntry[]): void;
  /** A file of `appliance_files`, which the main configuration names by a pattern. */
  writeListed(entries: readonly ApplianceEntry[]): void;
  writeText(text: string): void;
  writeListedText(text: string): void;
}

export const adminToken = canary('admin-token');
export const formerToken = canary('former-token');
const scrapePassword = canary('scrape-password');

export interface ConfigurationParts {
  readonly pace: Pace;
  /** Follows SIGHUP, `/-/reload` and files. */
  readonly reloads: boolean;
}

export function createConfiguration({ pace, reloads }: ConfigurationParts): Configuration {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-soak-'));
  const file = join(folder, 'zlb.yml');
  const listed = join(folder, 'appliances', 'listed.yml');
  const tls = createTlsMaterial();
  const files = { cert: join(folder, 'tls.pem'), key: join(folder, 'tls.key'), web: join(folder, 'web.yml') };
  mkdirSync(join(folder, 'appliances'));
  writeFileSync(files.cert, tls.cert);
  writeFileSync(files.key, tls.key, { mode: 0o600 });
  writeFileSync(
    files.web,
    JSON.stringify({
      tls_server_config: { cert_file: files.cert, key_file: files.key },
      basic_auth_users: { prometheus: hashSync(scrapePassword, 4) },
    }),
  );

  function write(entries: readonly ApplianceEntry[]): void {
    writeText(
      JSON.stringify({
        appliances: entries,
        ...(reloads && { appliance_files: [join(folder, 'appliances', '*.yml')] }),
        ...pace.configuration,
        admin: {
          listen_address: '127.0.0.1:0',
          audit_file: join(folder, 'audit', 'audit.jsonl'),
          audit_file_bytes: '1MiB',
          tls: { cert_file: files.cert, key_file: files.key },
          tokens: [
            { name: 'soak', sha256: sha256Of(adminToken), role: 'admin' },
            { name: 'former', sha256: sha256Of(formerToken), role: 'admin', expires: '2020-01-01' },
          ],
        },
      }),
    );
  }

  // JSON is YAML.
  function writeText(text: string): void {
    replace(file, text);
  }

  return {
    folder,
    file,
    args: [
      `--config.file=${file}`,
      '--web.listen-address=127.0.0.1:0',
      ...(reloads ? ['--web.enable-lifecycle'] : []),
      `--web.config.file=${files.web}`,
    ],
    scrapeHeaders: { authorization: `Basic ${Buffer.from(`prometheus:${scrapePassword}`).toString('base64')}` },
    tls,
    write,
    writeListed: (entries) => replace(listed, JSON.stringify(entries)),
    writeText,
    writeListedText: (text) => replace(listed, text),
  };
}

/** The entry of a simulated appliance; both of its keys are canaries. */
export function entryOf({ name, url, fingerprintSha256 }: StartedAppliance): ApplianceEntry {
  return {
    name,
    url,
    api_key: apiKeyOf(name),
    admin_api_key: adminKeyOf(name),
    tls: { fingerprint_sha256: fingerprintSha256 },
  };
}

/**
 * By renaming, so that nobody reads half of it; in the folder beside, since every file of its own
 * is listed.
 */
function replace(file: string, text: string): void {
  const fresh = join(dirname(dirname(file)), 'fresh.yml');
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
