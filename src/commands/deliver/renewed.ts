import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { type CommandContext, optionalFlag, UsageError } from '../command.ts';
import { privateKeyIn } from '../../config/pem.ts';
import { AdminError } from '../../recipes/admin-error.ts';
import { readWhole } from '../admin/content.ts';
import { namesOf, refuseOutOfDate } from '../admin/certificates/pem-file.ts';

/** The files of a renewed certificate. */
interface Source {
  /** The certificate and the intermediates. */
  readonly cert: string;
  readonly key: string;
}

/**
 * Returns the files that the flags name, or else those that an ACME client hands to its hook:
 * certbot and lego in the environment, dehydrated as words. Undefined for the hook calls of
 * dehydrated that bring no certificate. Throws a UsageError when no files are named.
 */
export function sourceOf({
  flags,
  env,
  arguments: words,
}: Pick<CommandContext, 'flags' | 'env' | 'arguments'>): Source | undefined {
  const [handler, , hookKey, , hookChain] = words;
  if (handler === 'deploy_cert') {
    if (hookKey !== undefined && hookChain !== undefined) return { cert: hookChain, key: hookKey };
    throw new UsageError('deploy_cert needs what dehydrated gives it: DOMAIN KEYFILE CERTFILE FULLCHAINFILE');
  }
  // dehydrated calls its hook for every step, and expects that unknown ones are ignored.
  if (handler !== undefined && /^[a-z]+(?:_+[a-z]+)+$/.test(handler)) return undefined;
  if (handler !== undefined)
    throw new UsageError('deliver takes flags only: --cert=FULLCHAIN --key=KEY; deliver --help shows examples');
  const [cert, key] = [optionalFlag(flags, 'cert'), optionalFlag(flags, 'key')];
  if (cert !== undefined && key !== undefined) return { cert, key };
  if ((cert ?? key) !== undefined)
    throw new UsageError('--cert and --key go together: the certificate with its intermediates, and its key');
  const { RENEWED_LINEAGE: lineage, LEGO_CERT_PATH: legoCert, LEGO_CERT_KEY_PATH: legoKey } = env;
  if (lineage) return { cert: join(lineage, 'fullchain.pem'), key: join(lineage, 'privkey.pem') };
  if (legoCert && legoKey) return { cert: legoCert, key: legoKey };
  throw new UsageError(
    'which certificate? Give --cert=FULLCHAIN and --key=KEY, or call deliver as hook of certbot, lego or dehydrated; deliver --help shows how',
  );
}

/** A renewed certificate, ready for the store of an appliance. */
export interface Renewed {
  readonly certificate: X509Certificate;
  /** Host names and addresses; the first one stands for a certificate without a common name. */
  readonly names: readonly string[];
  readonly commonName: string;
  /** Its file in the store: the same for every run, and another for every certificate. */
  readonly file: string;
  /** PEM: the certificate, its intermediates in their order, the key. */
  readonly bytes: Buffer;
}

/**
 * Reads a certificate, its intermediates and its key, in any order and with anything between them.
 * Rejects with an AdminError when the key does not fit, or the certificate is not valid now.
 */
export async function readRenewed({ cert, key }: Source, nowMs: number): Promise<Renewed> {
  const [certText, keyText] = [await textOf(cert, '--cert'), await textOf(key, '--key')];
  const certificates = certificatesIn(certText, cert);
  const privateKey = privateKeyIn(keyText);
  if ('problem' in privateKey) throw unfit(`${key} ${privateKey.problem}.`, 'Give the plain key of the certificate.');
  const secret = createPrivateKey(privateKey.value.reveal());
  const leaf = certificates.find((each) => each.checkPrivateKey(secret));
  if (!leaf) throw unfit(`The key in ${key} is that of no certificate in ${cert}.`, 'Give the key that belongs to it.');
  refuseOutOfDate({ certificate: leaf }, nowMs);
  const names = namesOf(leaf);
  const commonName = /^CN=(.*)$/m.exec(leaf.subject)?.[1] ?? names[0];
  if (commonName === undefined) throw unfit(`The certificate in ${cert} has no name.`, 'Give one for a host name.');
  const chain = chainFrom(leaf, certificates);
  return {
    certificate: leaf,
    names,
    commonName,
    file: storeFile(commonName, leaf),
    bytes: Buffer.from([...chain.map(String), privateKey.value.reveal()].join('')),
  };
}

async function textOf(path: string, flag: string): Promise<string> {
  return (await readWhole(path, flag)).toString().replaceAll('\r\n', '\n');
}

function certificatesIn(text: string, path: string): readonly X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (blocks.length === 0) throw unfit(`${path} holds no PEM certificate.`, 'Give the full chain, in PEM.');
  try {
    return blocks.map((pem) => new X509Certificate(pem));
  } catch {
    throw unfit(`A certificate in ${path} is damaged.`, 'Export it again.');
  }
}

/** Returns the certificate and its issuers, each after the one that it issued. */
function chainFrom(leaf: X509Certificate, all: readonly X509Certificate[]): readonly X509Certificate[] {
  const chain = [leaf];
  for (;;) {
    const last = chain.at(-1) ?? leaf;
    const issuer = all.find((each) => !chain.includes(each) && last.checkIssued(each));
    if (!issuer) return chain;
    chain.push(issuer);
  }
}

/** Returns a name of letters, digits and dots, with the begin of the fingerprint. */
function storeFile(commonName: string, { fingerprint256 }: X509Certificate): string {
  const name = commonName
    .replace(/^\*\./, 'wildcard.')
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, 64);
  return `${name}-${fingerprint256.replaceAll(':', '').slice(0, 12).toLowerCase()}.pem`;
}

function unfit(detail: string, remedy: string): AdminError {
  return new AdminError('The certificate cannot be delivered', { detail: `${detail} Nothing was changed.`, remedy });
}
