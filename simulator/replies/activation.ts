import { X509Certificate } from 'node:crypto';
import { crash, done, type Handlers, plainText, read, refuse } from '../call.ts';
import { createCertificate } from '../certificate.ts';
import { serialise } from '../response.ts';
import { certificate } from '../world-parts.ts';
import type { InstalledLicence, World } from '../world.ts';
import { certificateText } from './certificates.ts';

/**
 * The licence of the Enterprise Edition (docs/api.md §3.19, §5.5). The Community Edition reads
 * these paths as file names.
 */
export const activationHandlers: Handlers = {
  'GET /certificates/activation': ({ world }) => {
    const { hostname, notBefore, notAfter } = installed(world);
    const about = { commonName: hostname, issuer: 'Simulated Licences', notBefore, notAfter };
    return plainText(certificateText(certificate('activation', about)));
  },

  'GET /certificates/activation/info': ({ world, nowMs }) => {
    const licence = installed(world);
    const facts = { days_to_expire: daysToExpire(licence, nowMs), hostname: licence.hostname, type: licence.kind };
    if (world.release === 'newest') return read(facts);
    // Early builds print more, and send their JSON as text (docs/api.md §7).
    const key = world.activation.certificateKey;
    const params = { ...facts, certificate_key: key, host_key: key, support: 'true' };
    return plainText(serialise({ description: 'About the activation certificate', params }, world.release));
  },

  'POST /certificates/activation': ({ world, json, content, nowMs }) => {
    if (json) crash();
    const licence = content.length === 0 ? 'Nothing was sent.' : readLicence(content.toString(), nowMs);
    // A refused file does not replace the old one.
    if (typeof licence === 'string') return refuse(400, licence);
    world.activation.installed = licence;
    world.activation.refusedBecause = undefined;
    return done('The activation certificate is stored.');
  },

  'DELETE /certificates/activation': ({ world }) => {
    world.activation.installed = undefined;
    return done('The activation certificate is gone.');
  },
};

function installed(world: World) {
  return world.activation.installed ?? refuse(404, 'No activation certificate is installed.');
}

const dayMs = 86_400_000;

/**
 * Returns why the appliance is deactivated, as the 402 says it; undefined while it is activated.
 */
export function deactivatedBecause(world: World, nowMs: number): string | undefined {
  if (world.edition === 'community') return undefined;
  const { installed, refusedBecause } = world.activation;
  if (!installed) return 'No usable activation certificate is installed.';
  if (refusedBecause !== undefined) return refusedBecause;
  // A permanent licence that ends loses only its support contract (docs/api.md §3.19).
  if (installed.kind === 'temporal' && nowMs >= installed.notAfter) return 'The trial of this appliance is over.';
  return undefined;
}

/**
 * Returns whole days as digits from one day up, else a number with two decimals (docs/api.md
 * §3.19).
 */
function daysToExpire({ notAfter }: InstalledLicence, nowMs: number): string | number {
  const days = (notAfter - nowMs) / dayMs;
  return days >= 1 ? String(Math.floor(days)) : Number(days.toFixed(2));
}

/** Reads an uploaded activation certificate, or returns the sentence with which it is refused. */
function readLicence(pem: string, nowMs: number): InstalledLicence | string {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    return 'What was sent is not an activation certificate.';
  }
  const kind = certificate.subject.includes('OU=temporal') ? 'temporal' : 'permanent';
  const notAfter = Date.parse(certificate.validTo);
  if (kind === 'temporal' && notAfter <= nowMs) return 'This activation certificate was for a trial, which is over.';
  const hostname = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
  return { kind, hostname, notBefore: Date.parse(certificate.validFrom), notAfter };
}

/**
 * Makes the PEM text of an activation certificate that a simulated appliance accepts. Dates are
 * milliseconds.
 */
export function createActivationCertificate({ kind, hostname, notBefore, notAfter }: InstalledLicence): string {
  const subject = { CN: hostname, OU: kind };
  return createCertificate({ subject, notBefore: new Date(notBefore), notAfter: new Date(notAfter) }).cert;
}
