import { X509Certificate } from 'node:crypto';
import { generate } from 'selfsigned';
import type { InstalledLicence, World } from './world.ts';

const dayMs = 86_400_000;

/** Why the appliance is deactivated, as the 402 says it; undefined while activated and on the Community Edition. */
export function deactivatedBecause(world: World, nowMs: number): string | undefined {
  if (world.edition === 'community') return undefined;
  const { installed, refusedBecause } = world.activation;
  if (!installed) return 'No usable activation certificate is installed.';
  if (refusedBecause !== undefined) return refusedBecause;
  // A permanent licence past its end loses its support contract only (docs/api.md §3.19).
  if (installed.kind === 'temporal' && nowMs >= installed.notAfter) return 'The trial of this appliance is over.';
  return undefined;
}

/** Whole days as digits from one day up, else a number with two decimals (docs/api.md §3.19). */
export function daysToExpire({ notAfter }: InstalledLicence, nowMs: number): string | number {
  const days = (notAfter - nowMs) / dayMs;
  return days >= 1 ? String(Math.floor(days)) : Number(days.toFixed(2));
}

/** Reads an uploaded activation certificate; a sentence says why it is refused. */
export function readLicence(pem: string, nowMs: number): InstalledLicence | string {
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

/** Makes the PEM text of an activation certificate that a simulated appliance accepts. Dates are milliseconds. */
export async function createActivationCertificate({
  kind,
  hostname,
  notBefore,
  notAfter,
}: InstalledLicence): Promise<string> {
  const made = await generate(
    [
      { name: 'commonName', value: hostname },
      { shortName: 'OU', value: kind },
    ],
    { keyType: 'ec', algorithm: 'sha256', notBeforeDate: new Date(notBefore), notAfterDate: new Date(notAfter) },
  );
  return made.cert;
}
