import { X509Certificate } from 'node:crypto';
import {
  type Call,
  crash,
  done,
  download,
  type Handlers,
  named,
  param,
  plainText,
  read,
  refuse,
  type Reply,
} from '../call.ts';
import { certificateDate } from '../dates.ts';
import { certificate } from '../world-parts.ts';
import type { World } from '../world.ts';
import type { StoredCertificate } from '../world-certificates.ts';

const dayMs = 86_400_000;

/** The certificate store (docs/api.md §3.11, §4.4). */
export const certificateHandlers: Handlers = {
  'GET /certificates': (call) =>
    read(
      [...call.world.certificates.values()]
        .sort((a, b) => (a.file < b.file ? -1 : 1))
        .map((stored) => listEntry(stored, call.nowMs)),
    ),

  'GET /certificates/{file}': (call) => {
    const stored = named(call, call.world.certificates, 'file');
    const content =
      stored.pem || `${pemBlock('CERTIFICATE', stored.commonName)}${pemBlock('PRIVATE KEY', 'not a key')}`;
    return download(stored.file, content);
  },

  'GET /certificates/{file}/info': (call) => plainText(certificateText(named(call, call.world.certificates, 'file'))),

  'POST /certificates/{file}': upload,

  'DELETE /certificates/{file}': (call) => {
    const { file } = named(call, call.world.certificates, 'file');
    const isUsed = [...call.world.farms.values()].some(
      (farm) => farm.profile === 'http' && farm.certificates.includes(file),
    );
    if (isUsed) return refuse(400, `${file} is in use by a farm.`);
    call.world.certificates.delete(file);
    return done(`${file} is gone.`);
  },
};

function upload(call: Call): Reply {
  // The appliance's handler crashes on JSON.
  if (call.json) crash();
  const name = param(call, 'file').replaceAll(/[()@\s]/g, '');
  const file = name.endsWith('.pem') ? name : `${name}.pem`;
  const pem = call.content.toString();
  if (call.world.certificates.has(file)) return refuse(400, `${file} exists.`);
  if (/ENCRYPTED/.test(pem)) return refuse(400, 'Keys with a passphrase are not taken.');
  store(call.world, file, pem, call.nowMs);
  return done(`${file} is stored.`);
}

/**
 * Stores any text, as the appliance does; only a read shows whether it is a certificate
 * (docs/api.md §4.4).
 */
function store(world: World, file: string, pem: string, nowMs: number): void {
  try {
    const parsed = new X509Certificate(pem);
    world.certificates.set(
      file,
      certificate(file, {
        commonName: commonNameIn(parsed.subject) ?? 'no CN',
        issuer: commonNameIn(parsed.issuer) ?? 'no issuer',
        notBefore: Date.parse(parsed.validFrom),
        notAfter: Date.parse(parsed.validTo),
        condition: pem.includes('PRIVATE KEY') ? 'good' : 'bad_key',
        pem,
      }),
    );
  } catch {
    world.certificates.set(file, certificate(file, { notBefore: nowMs, notAfter: nowMs, condition: 'garbage', pem }));
  }
}

/** Returns the word of docs/api.md §2.3. `invalid` and `unknown` have priority over the dates. */
function certificateStatus({ type, condition, notAfter = 0 }: StoredCertificate, nowMs: number): string {
  if (type === 'CSR') return 'valid';
  if (condition !== 'good') return condition === 'garbage' ? 'unknown' : 'invalid';
  if (notAfter <= nowMs) return 'expired';
  return notAfter - nowMs < 15 * dayMs ? 'about to expire' : 'valid';
}

/** Returns a certificate as the list of the store has it. */
export function listEntry(stored: StoredCertificate, nowMs: number) {
  const { file, type, commonName, issuer, notBefore, notAfter, condition, keyFile: key } = stored;
  const status = certificateStatus(stored, nowMs);
  if (condition === 'garbage') return { file, type, CN: '-', issuer: '-', creation: '-', expiration: '-', status };
  return {
    file,
    type,
    CN: commonName,
    issuer,
    creation: notBefore === undefined ? '-' : certificateDate(notBefore),
    expiration: notAfter === undefined ? 'NA' : certificateDate(notAfter),
    status,
    key,
  };
}

function commonNameIn(name: string): string | undefined {
  return /^CN=(.*)$/m.exec(name)?.[1];
}

/**
 * Returns the long text form of a stored certificate, as `…/info` prints it. Clients read the dates
 * in it. It ends with the first certificate of the file, and never with its key.
 */
export function certificateText(stored: StoredCertificate): string {
  const { condition, type, commonName, issuer, notBefore = 0, notAfter = 0, pem } = stored;
  if (condition === 'garbage') return 'This file holds no certificate.';
  if (type === 'CSR') return requestText(stored);
  const first = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/s.exec(pem)?.[0];
  return `Certificate:
    Data:
        Version: 3 (0x2)
        Serial Number: 4096 (0x1000)
        Signature Algorithm: sha256WithRSAEncryption
        Issuer: C = ES, O = Example Corp, CN = ${issuer}
        Validity
            Not Before: ${certificateDate(notBefore)}
            Not After : ${certificateDate(notAfter)}
        Subject: C = ES, O = Example Corp, CN = ${commonName}
        Subject Public Key Info:
            Public Key Algorithm: rsaEncryption
                Public-Key: (2048 bit)
    Signature Algorithm: sha256WithRSAEncryption
${first ?? pemBlock('CERTIFICATE', commonName)}
`;
}

function requestText({ commonName, pem }: StoredCertificate): string {
  return `Certificate Request:
    Data:
        Version: 1 (0x0)
        Subject: C = ES, O = Example Corp, CN = ${commonName}
        Subject Public Key Info:
            Public Key Algorithm: rsaEncryption
                Public-Key: (2048 bit)
    Signature Algorithm: sha256WithRSAEncryption
${pem || pemBlock('CERTIFICATE REQUEST', commonName)}
`;
}

/** Returns a block that looks like PEM and holds only a name. */
function pemBlock(label: string, content: string): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(`simulated ${content}`).toString('base64')}\n-----END ${label}-----\n`;
}
