import { isIP } from 'node:net';
import { adminCommand } from '../../lib/text.ts';
import { farmCertificates } from '../../admin/recipes/certificate-steps.ts';
import type { RecipeContext } from '../../admin/recipes/recipe.ts';
import type { FarmState } from '../../admin/recipes/restart-farm.ts';
import type { VipSettings } from '../../collectors/collector.ts';
import { ownAddresses } from '../../collectors/vip.ts';
import { probeVip, type ServedCertificate } from '../../collectors/vip-probe.ts';
import { vipTargets } from '../../collectors/vip-targets.ts';
import { readStored } from '../../admin/recipes/delivery.ts';
import type { Renewed } from '../../admin/recipes/renewed.ts';

/** The limits of the collector `vip` of an appliance. */
export type Reach = Omit<VipSettings, 'serverNames'>;

/** A look at what a farm serves after a delivery. */
export interface Seen {
  /** True if it is the certificate that was replaced. */
  readonly isFailure: boolean;
  readonly detail: string;
}

interface Look {
  /** The file of the certificate that was replaced now. */
  readonly replaced: string | undefined;
  readonly context: RecipeContext;
  /** Undefined while the collector `vip` is off. */
  readonly reach: Reach | undefined;
  readonly signal: AbortSignal;
}

/**
 * Connects to a farm as the collector `vip` does, and compares what it serves with the certificate
 * that was delivered. Only the one that was replaced is a failure: where this machine is, a private
 * address may lead to another host, or nowhere.
 */
export async function lookAtServed(
  farm: FarmState,
  renewed: Renewed,
  { replaced, context, reach, signal }: Look,
): Promise<Seen> {
  if (farm.status === 'down') return { isFailure: false, detail: 'the farm is stopped' };
  if (!reach) return notVerified('the collector vip is off');
  const serverName = nameToAskFor(renewed);
  const endpoint = endpointOf(farm, serverName, reach);
  if (!endpoint) return notVerified(`${farm.address} may not be connected to`);
  const { certificate, failure = 'failed' } = await probeVip({ ...endpoint, serverName }, signal);
  if (!certificate) return notVerified(`a connection to ${farm.address} gave ${failure}`);
  if (isThe(certificate, renewed.certificate)) return { isFailure: false, detail: 'served' };
  const asked = serverName === '' ? 'without a name' : `for ${serverName}`;
  for (const file of await farmCertificates(context, farm.name)) {
    const stored = await readStored(context, file);
    if (stored && isThe(certificate, stored)) return notVerified(`${farm.address} presents ${file} ${asked}`);
  }
  const old = replaced === undefined ? undefined : await readStored(context, replaced);
  if (!old || !isThe(certificate, old))
    return notVerified(
      `from this machine, ${farm.address} shows an unknown certificate ${asked}: serial ${certificate.serial}. ` +
        'Look at it from where its clients are',
    );
  const restart = adminCommand(context.calls.appliance, 'restart-farm', `farm=${farm.name}`);
  return {
    isFailure: true,
    detail:
      `${farm.address} still serves ${replaced} ${asked}. ${farm.name} keeps the new one. Restart it (${restart}), ` +
      'or find who else has the address, such as the other node of a cluster.',
  };
}

function notVerified(because: string): Seen {
  return { isFailure: false, detail: `not verified: ${because}` };
}

/** A client never asks for the wildcard itself, nor for an address. */
function nameToAskFor({ names }: Renewed): string {
  return names.find((name) => isIP(name) === 0)?.replace(/^\*\./, 'www.') ?? '';
}

/** Returns where to connect to; undefined if nothing of it may be connected to. */
function endpointOf({ name, profile, address }: FarmState, serverName: string, reach: Reach) {
  const [, vip, vport] = /^(.*):([^:]*)$/.exec(address) ?? [];
  const listed = { name, profile, state: 'up', vip, vport, established: undefined, pending: undefined };
  const known = { farms: [listed], configOf: () => undefined, certificates: undefined };
  const [target] = vipTargets(known, { ...reach, serverNames: { [name]: [serverName] } }, ownAddresses());
  return target?.endpoint;
}

function isThe({ fingerprintSha256 }: ServedCertificate, { fingerprint256 }: Renewed['certificate']): boolean {
  return fingerprint256.replaceAll(':', '').toLowerCase() === fingerprintSha256;
}
