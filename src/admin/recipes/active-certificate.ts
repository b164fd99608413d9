import { isIP } from 'node:net';
import { addressOf } from '../../appliance/farm.ts';
import { localAddresses } from '../../collectors/vip.ts';
import { probeVip, type ServedCertificate } from '../../collectors/vip-probe.ts';
import { vipTargets } from '../../collectors/vip-targets.ts';
import { adminCommand } from '../../lib/text.ts';
import { farmCertificates } from './certificate-steps.ts';
import type { VipLimits } from '../../collectors/collector.ts';
import type { RecipeContext } from './recipe.ts';
import type { NewCertificate } from './new-certificate.ts';
import type { FarmReading } from './restart-farm.ts';
import { readStored } from './calls.ts';

/** The certificate that a farm serves after a delivery. */
export interface ActiveCertificate {
  /** True if it is one that was replaced. */
  readonly servesOld: boolean;
  readonly detail: string;
}

/**
 * Connects to a farm as the collector `vip` does, and compares what it serves with the certificate
 * that was delivered. Reports a failure only for one that was replaced: from this exporter, a private
 * address may lead to another host, or nowhere.
 */
export async function checkActive(
  context: RecipeContext,
  farm: FarmReading,
  newCertificate: NewCertificate,
): Promise<ActiveCertificate> {
  const { vipLimits, probesAllFarms, signal } = context;
  if (farm.state === 'down') return { servesOld: false, detail: 'the farm is stopped' };
  if (!vipLimits || !probesAllFarms) return notVerified('the collector vip is off');
  const address = addressOf(farm);
  const serverName = nameToAskFor(newCertificate);
  const endpoint = endpointOf(farm, serverName, vipLimits);
  if (!endpoint) return notVerified(`${address} may not be connected to`);
  const { certificate, failure = 'failed' } = await probeVip({ ...endpoint, serverName }, signal);
  if (!certificate) return notVerified(`a connection to ${address} gave ${failure}`);
  if (isSameCertificate(certificate, newCertificate.x509)) return { servesOld: false, detail: 'served' };
  const asked = serverName === '' ? 'without a name' : `for ${serverName}`;
  const used = await farmCertificates(context, farm.name);
  const own = await findStored(context, used, certificate);
  if (own !== undefined) return notVerified(`${address} presents ${own} ${asked}`);
  const { params: stored } = await context.calls.read('listCertificates', {});
  const others = stored.filter(({ file, CN }) => !used.includes(file) && mayBeStored(certificate, CN));
  const old = await findStored(
    context,
    others.map(({ file }) => file),
    certificate,
  );
  if (old === undefined)
    return notVerified(
      `from the exporter, ${address} shows an unknown certificate ${asked}: serial ${certificate.serial}. ` +
        'Look at it from where its clients are',
    );
  const restart = adminCommand(context.calls.appliance, 'restart-farm', `farm=${farm.name}`);
  return {
    servesOld: true,
    detail:
      `${address} still serves ${old} ${asked}. ${farm.name} keeps the new one. Restart it (${restart}), ` +
      'or find who else has the address, such as the other node of a cluster.',
  };
}

function notVerified(because: string): ActiveCertificate {
  return { servesOld: false, detail: `not verified: ${because}` };
}

/** Resolves to the file of the store that has a certificate, if one of these does. */
async function findStored(
  context: RecipeContext,
  files: readonly string[],
  certificate: ServedCertificate,
): Promise<string | undefined> {
  for (const file of files) {
    const stored = await readStored(context, file);
    if (stored && isSameCertificate(certificate, stored)) return file;
  }
  return undefined;
}

/** Returns false for one of the list that has another common name: it need not be read. */
function mayBeStored({ commonName }: ServedCertificate, listed: string | null | undefined): boolean {
  return !commonName || !listed || listed === 'no CN' || listed === commonName;
}

/** A client never asks for the wildcard itself, nor for an address. */
function nameToAskFor({ names }: NewCertificate): string {
  return names.find((name) => isIP(name) === 0)?.replace(/^\*\./, 'www.') ?? '';
}

/** Returns where to connect to; undefined if nothing of it may be connected to. */
function endpointOf(farm: FarmReading, serverName: string, vipLimits: VipLimits) {
  const known = { farms: [{ ...farm, state: 'up' }], configOf: () => undefined, certificates: undefined };
  const [target] = vipTargets(known, { ...vipLimits, serverNames: { [farm.name]: [serverName] } }, localAddresses());
  return target?.endpoint;
}

function isSameCertificate(
  { fingerprintSha256 }: ServedCertificate,
  { fingerprint256 }: NewCertificate['x509'],
): boolean {
  return fingerprint256.replaceAll(':', '').toLowerCase() === fingerprintSha256;
}
