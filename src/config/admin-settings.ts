import { resolve } from 'node:path';
import { assert } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import type { AdminFile, TokenFile } from './admin-schema.ts';
import type { OpenedTls } from './open-files.ts';
import { closestWord, globMatcher } from '../lib/text.ts';
import { isLoopback } from '../lib/address.ts';
import { pairProblem } from '../lib/pem.ts';
import type { Path, Problems } from './problems.ts';
import { findRepeats } from '../lib/same.ts';
import type { ConfigFile } from './schema.ts';
import type { Source } from './yaml-file.ts';

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
  readonly approvals: ApprovalSettings;
  readonly tokens: readonly TokenSettings[];
}

export interface ApprovalSettings {
  /** The risks of operations that need approval. */
  readonly requiredFor: readonly ('reversible' | 'disruptive' | 'destructive')[];
  /** How long a change request waits. */
  readonly ttlMs: number;
  /** True if people may approve their own requests. */
  readonly selfApproval: boolean;
  /** The folder of renewed certificates: an absolute path. */
  readonly certificatesFolder?: string;
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
  /** The effect of a blocking finding of a guard. */
  readonly guards: TokenFile['guards'];
  /** The holder of the token. */
  readonly person: string;
  readonly approver: boolean;
  readonly breakGlass: boolean;
}

interface ValidAdmin {
  readonly admin: AdminFile;
  readonly opened: OpenedTls;
  /** The folder from which a relative `audit_file` starts. */
  readonly folder: string;
  readonly operations: OperationRoutes;
}

/** Converts an `admin` block without problems to settings. */
export function toAdminSettings({ admin, opened, folder, operations }: ValidAdmin): AdminSettings {
  return {
    listenAddress: admin.listen_address,
    ...(admin.tls && { tls: toTls(opened) }),
    auditFile: resolve(folder, admin.audit_file),
    auditFileBytes: admin.audit_file_bytes,
    timeoutMs: admin.timeout,
    uploadBytes: admin.upload_bytes,
    downloadBytes: admin.download_bytes,
    maxConcurrentPerAppliance: admin.max_concurrent_per_appliance,
    approvals: {
      requiredFor: admin.approvals.required_for,
      ttlMs: admin.approvals.ttl,
      selfApproval: admin.approvals.self_approval,
      ...(admin.approvals.certificates_folder !== undefined && {
        certificatesFolder: resolve(folder, admin.approvals.certificates_folder),
      }),
    },
    tokens: admin.tokens.map((token) => toToken(token, operations)),
  };
}

function toTls({ cert, key, clientCa }: OpenedTls): AdminTlsSettings {
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
    person: token.person ?? token.name,
    approver: token.approver,
    breakGlass: token.break_glass,
  };
}

/** The operations of the API by key, with their routes: `PUT /farms/{farmname}/actions`. */
export type OperationRoutes = ReadonlyMap<string, string>;

/**
 * Returns the keys that an entry of `allow` or `deny` matches: a key, a route, or a pattern with
 * `*` over both.
 */
export function matchOperations(entry: string, operations: OperationRoutes): readonly string[] {
  const fits = globMatcher(entry);
  return [...operations].filter(([key, route]) => fits(key) || fits(route)).map(([key]) => key);
}

interface Checked {
  readonly config: ConfigFile;
  readonly source: Source;
  readonly opened: OpenedTls;
  readonly operations: OperationRoutes;
  readonly problems: Problems;
}

/** Reports what is wrong in the `admin` block beyond its single values. */
export function checkAdmin(checked: Checked): void {
  for (const check of [
    requireEncryption,
    requireMatchingKey,
    requireUniqueTokens,
    requireKnownAppliances,
    requireKnownOperations,
  ])
    check(checked);
}

function requireEncryption({ config: { admin }, source, problems }: Checked): void {
  if (!admin || admin.tls || admin.insecure_plaintext || isLoopback(admin.listen_address)) return;
  problems.report(
    source.locate(['admin', 'listen_address']),
    'lets other machines connect, and without TLS tokens would cross the network in clear text; ' +
      'add admin.tls with cert_file and key_file, or set admin.insecure_plaintext to true where something else encrypts them',
  );
}

function requireMatchingKey({ source, opened: { cert, key }, problems }: Checked): void {
  const problem = cert !== undefined && key ? pairProblem(cert, key, 'cert_file') : undefined;
  if (problem !== undefined) problems.report(source.locate(['admin', 'tls', 'key_file']), problem);
}

function requireUniqueTokens({ config: { admin }, source, problems }: Checked): void {
  for (const [key, word, remedy] of [
    ['name', 'name', 'give each token its own, the audit tells callers apart by it'],
    ['sha256', 'digest', 'make a token of its own with `zlb-exporter token`'],
  ] as const) {
    for (const { index, first } of findRepeats((admin?.tokens ?? []).map((token) => token[key])))
      problems.report(
        source.locate(['admin', 'tokens', index, key]),
        `is the ${word} of admin.tokens[${first}] too; ${remedy}`,
      );
  }
}

/**
 * Reports names of unknown appliances. Patterns are allowed to match none: their appliances may
 * come later.
 */
function requireKnownAppliances({ config: { admin, appliances }, source, problems }: Checked): void {
  const known = appliances.map(({ name }) => name);
  for (const [index, token] of admin?.tokens.entries() ?? []) {
    for (const [position, name] of token.appliances.entries()) {
      if (name.includes('*') || known.includes(name)) continue;
      problems.report(
        source.locate(['admin', 'tokens', index, 'appliances', position]),
        `is the name of no appliance; ${suggest(name, known) ?? 'write one of those in appliances, or a pattern such as lb-*'}`,
      );
    }
  }
}

function requireKnownOperations({ config: { admin }, source, operations, problems }: Checked): void {
  const words = [...operations].flat();
  for (const [index, token] of admin?.tokens.entries() ?? []) {
    for (const list of ['allow', 'deny'] as const) {
      for (const [position, entry] of token[list]?.entries() ?? []) {
        if (matchOperations(entry, operations).length > 0) continue;
        const at: Path = ['admin', 'tokens', index, list, position];
        problems.report(
          source.locate(at),
          `is no operation; ${suggest(entry, words) ?? 'write the key of one such as readFarm, a route such as PUT /farms/{farmname}/actions, or a pattern such as *Backend*'}`,
        );
      }
    }
  }
}

function suggest(word: string, candidates: readonly string[]): string | undefined {
  const meant = closestWord(word, candidates);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}
