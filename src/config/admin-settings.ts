import { resolve } from 'node:path';

import { assert } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import type { AdminFile, TokenFile } from './admin-schema.ts';
import type { OpenedAdmin } from './open-files.ts';
import { matchOperations, type OperationRoutes } from './operation-list.ts';

/** The checked settings of the admin gateway; without them it does not listen. */
export interface AdminSettings {
  /** `host:port`; an empty host is every address. */
  readonly listenAddress: string;
  readonly tls?: AdminTlsSettings;
  /** An absolute path. */
  readonly auditFile: string;
  readonly auditFileBytes: number;
  /** Time to the first byte of an answer. */
  readonly timeoutMs: number;
  readonly uploadBytes: number;
  readonly downloadBytes: number;
  /** Concurrent reads; one change at a time comes on top. */
  readonly maxConcurrentPerAppliance: number;
  readonly tokens: readonly TokenSettings[];
}

/** All three are PEM; the key belongs to the first certificate. */
interface AdminTlsSettings {
  readonly cert: string;
  readonly key: Secret;
  readonly clientCa?: string;
}

export interface TokenSettings {
  readonly name: string;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly role: TokenFile['role'];
  /** Globs: `*` stands for any characters. */
  readonly appliances: readonly string[];
  /** Unix milliseconds; may be past. */
  readonly expiresAtMs?: number;
  /** Keys of operations. */
  readonly allow?: readonly string[];
  readonly deny: readonly string[];
  readonly skipConfirmation: boolean;
  /** How a blocking finding of a guard is handled. */
  readonly guards: TokenFile['guards'];
}

interface Checked {
  readonly admin: AdminFile;
  readonly opened: OpenedAdmin;
  /** Where a relative `audit_file` starts. */
  readonly folder: string;
  readonly operations: OperationRoutes;
}

/** Converts an `admin` block without problems to settings. */
export function toAdminSettings({ admin, opened, folder, operations }: Checked): AdminSettings {
  return {
    listenAddress: admin.listen_address,
    ...(admin.tls && { tls: toTls(opened) }),
    auditFile: resolve(folder, admin.audit_file),
    auditFileBytes: admin.audit_file_bytes,
    timeoutMs: admin.timeout,
    uploadBytes: admin.upload_bytes,
    downloadBytes: admin.download_bytes,
    maxConcurrentPerAppliance: admin.max_concurrent_per_appliance,
    tokens: admin.tokens.map((token) => toToken(token, operations)),
  };
}

function toTls({ cert, key, clientCa }: OpenedAdmin): AdminTlsSettings {
  assert(cert !== undefined && key, 'a certificate or a key that cannot be read is a problem');
  return { cert, key, ...(clientCa !== undefined && { clientCa }) };
}

function toToken(token: TokenFile, operations: OperationRoutes): TokenSettings {
  const keysOf = (entries: readonly string[]) => [
    ...new Set(entries.flatMap((entry) => matchOperations(entry, operations))),
  ];
  return {
    name: token.name,
    sha256: token.sha256,
    role: token.role,
    appliances: token.appliances,
    ...(token.expires !== undefined && { expiresAtMs: token.expires }),
    ...(token.allow && { allow: keysOf(token.allow) }),
    deny: keysOf(token.deny),
    skipConfirmation: token.skip_confirmation,
    guards: token.guards,
  };
}
