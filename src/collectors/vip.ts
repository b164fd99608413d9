import { networkInterfaces } from 'node:os';
import { certificatesCollector, type Certificate } from './certificates.ts';
import { type ApplianceWideCollector, farmAreas } from './collector.ts';
import { farmConfigCollector } from './farm-config.ts';
import { farmsCollector } from './farms.ts';
import { rowsOf } from './rows.ts';
import {
  chainEndOf,
  type ProbeFailure,
  type ProbeRequest,
  type ProbeResult,
  probeVip,
  type ServedCertificate,
} from './vip-probe.ts';
import { isWanted, lastRuns, type ProbeBasis, type VipTarget, vipTargets } from './vip-targets.ts';

/** A farm as its clients meet it. */
export interface ProbedFarm {
  readonly farm: string;
  /** As the appliance reported them. */
  readonly vip: string;
  readonly vport: string;
  /** The address and port that a connection was made to, or would have been. */
  readonly address: string;
  /** When the probe began. */
  readonly probedAtElapsedMs: number;
  /** When the last probe began that had its full time. */
  readonly fullTimeAtElapsedMs: number;
  /** Undefined if nothing was tried, or the farm may be one for UDP. */
  readonly isReachable: boolean | undefined;
  readonly connectSeconds: number | undefined;
  /** Why there is no connection. */
  readonly failure: ProbeFailure | 'not_allowed' | undefined;
  /**
   * Since when each probe has met a proxy that does not hang: it answered a handshake, or its address
   * refused the connection. Undefined while that is not known.
   */
  readonly answersSinceElapsedMs: number | undefined;
  /** When the appliance last said that it runs. */
  readonly ranAtElapsedMs: number;
  readonly basis: ProbeBasis;
  /** True if no setting asks for the probe: then it says nothing of the farm before one has succeeded. */
  readonly isByDefault?: boolean;
  /** One for each server name. */
  readonly served: readonly ServedName[];
}

/** The result for one server name, which is empty for a handshake without a name. */
export interface ServedName {
  readonly serverName: string;
  /** Why there is no certificate. */
  readonly failure: ProbeFailure | undefined;
  readonly certificate: ServedCertificate | undefined;
  /** True if the store has it for this farm; undefined while that is not known. */
  readonly isInStore: boolean | undefined;
}

const source = '(TCP and TLS from this exporter';
const farmRows = rowsOf((list: readonly ProbedFarm[]) => list, { farm: ({ farm }) => farm });
const addressRows = rowsOf((list: readonly ProbedFarm[]) => list, {
  farm: ({ farm }) => farm,
  vip: ({ vip }) => vip,
  vport: ({ vport }) => vport,
});
const nameRows = rowsOf(
  (list: readonly ProbedFarm[]) => list.flatMap(({ farm, served }) => served.map((each) => ({ farm, ...each }))),
  { farm: ({ farm }) => farm, server_name: ({ serverName }) => serverName },
);
const servedRows = rowsOf(
  (list: readonly ProbedFarm[]) =>
    list.flatMap(({ farm, served }) =>
      served.flatMap(({ serverName, certificate }) =>
        certificate ? [{ farm, serverName, ...certificate, chainEndSeconds: chainEndOf(certificate) }] : [],
      ),
    ),
  { farm: ({ farm }) => farm, server_name: ({ serverName }) => serverName },
);
const failureRows = rowsOf(failuresIn, {
  farm: ({ farm }) => farm,
  server_name: ({ serverName }) => serverName,
  reason: ({ failure }) => failure,
});

/** An appliance may have hundreds of farms, and this exporter other work. */
const maxAtOnce = 3;
/** The same for all appliances together. */
export const maxProbesAtOnce = 64;
/** Limit for a farm that did not answer last time: hundreds of them must not fill the interval. */
const quickMs = 1_000;
/** So many of these have their full time again: one that became slow would not answer in a second. */
const maxWithFullTime = 6;

/**
 * Connects to the addresses of TCP farms as a client would, also to those that went down within the
 * last day. An L4 farm counts as one for TCP after the first connection, since the read that would
 * tell could cut it; until then, a failure does not show that it is down. While the list of farms
 * is away, the last one is used, because nothing else tells whether clients are served.
 * vip-targets.ts decides what may be connected to: L4 farms alone, unless the configuration says
 * more.
 */
export const vipCollector: ApplianceWideCollector<readonly ProbedFarm[]> = {
  name: 'vip',
  schedule: '0 * * * * *',
  maxStaleMs: 300_000,
  enabled: true,
  makesNoCalls: true,
  refreshedBy: [...farmAreas, 'certificates', 'letsencrypt'],
  async collect({ fresh, probing: { settings, inSlot, onlyFarms }, signal, elapsedNow, watches }) {
    const before = fresh(vipCollector) ?? [];
    const last = new Map(before.map((each) => [each.farm, each]));
    const listed = fresh(farmsCollector)?.farms;
    const ranAt = lastRuns(
      listed,
      new Map(before.map(({ farm, ranAtElapsedMs }) => [farm, ranAtElapsedMs])),
      elapsedNow(),
    );
    const lastKnown = before.flatMap((each) => (ranAt.has(each.farm) ? each.basis.listed : []));
    const inputs = {
      // A list from before a reload may have farms that are left out since.
      farms: (listed ?? lastKnown).filter(({ name }) => watches(name)),
      lastKnown: (farm: string) => last.get(farm)?.basis,
      ranRecently: (farm: string) => ranAt.has(farm),
      configOf: (farm: string) => fresh(farmConfigCollector, farm),
      certificates: fresh(certificatesCollector),
    };
    if (!inputs.farms.some((farm) => isWanted(farm, settings))) return [];
    const quick = new Set(
      before
        .filter(hasTimedOut)
        .toSorted((one, other) => one.fullTimeAtElapsedMs - other.fullTimeAtElapsedMs)
        .slice(maxWithFullTime)
        .map(({ farm }) => farm),
    );
    const probeNow = async (target: VipTarget, ranAtElapsedMs: number, earlier?: ProbedFarm): Promise<ProbedFarm> => {
      const limit = quick.has(target.farm) ? { withinMs: quickMs } : {};
      const probe = (request: ProbeRequest) => inSlot(signal, () => probeVip(request, signal));
      const probedAtElapsedMs = elapsedNow();
      const result = await probeFarm(target, limit, probe);
      const fullTimeAtElapsedMs = (quick.has(target.farm) && earlier?.fullTimeAtElapsedMs) || probedAtElapsedMs;
      const answersSinceElapsedMs = hasNoHungProxy(result)
        ? (earlier?.answersSinceElapsedMs ?? probedAtElapsedMs)
        : undefined;
      return { ...result, ranAtElapsedMs, probedAtElapsedMs, fullTimeAtElapsedMs, answersSinceElapsedMs };
    };
    const probed: ProbedFarm[] = [];
    // All take from one list, so that each is busy until it ends.
    const queue = vipTargets(inputs, settings, localAddresses()).entries();
    const work = async (): Promise<void> => {
      for (const [index, target] of queue) {
        const earlier = last.get(target.farm);
        const ranAtElapsedMs = ranAt.get(target.farm) ?? elapsedNow();
        const isDue = !onlyFarms || onlyFarms.has(target.farm) || earlier?.address !== target.address;
        const result = isDue ? await probeNow(target, ranAtElapsedMs, earlier) : { ...earlier, ranAtElapsedMs };
        const wasReached = result.isReachable === true || target.basis.hasAccepted === true;
        const isReachable = target.isUnproven && !result.isReachable ? undefined : result.isReachable;
        const isByDefault = settings.l4Only === true;
        probed[index] = { ...result, isReachable, isByDefault, basis: { ...result.basis, hasAccepted: wasReached } };
      }
    };
    await Promise.all(Array.from({ length: maxAtOnce }, work));
    return probed;
  },
  families: [
    addressRows.gauge(
      'zlb_farm_reachable',
      `1 when a TCP connection to the address of a farm succeeded; only while it runs, or if it ran within the last day ${source}).`,
      ({ isReachable }) => isReachable,
    ),
    servedRows.gauge(
      'zlb_farm_served_certificate_not_after_timestamp_seconds',
      `Unix time at which the certificate served by a farm expires ${source}).`,
      ({ notAfterSeconds }) => notAfterSeconds,
    ),
    servedRows.gauge(
      'zlb_farm_served_certificate_not_before_timestamp_seconds',
      `Unix time from which the certificate served by a farm is valid ${source}).`,
      ({ notBeforeSeconds }) => notBeforeSeconds,
    ),
    servedRows.gauge(
      'zlb_farm_served_chain_not_after_timestamp_seconds',
      `Unix time of the earliest expiry in the chain served by a farm, of its certificate or an intermediate ${source}).`,
      ({ chainEndSeconds }) => chainEndSeconds,
    ),
    nameRows.gauge(
      'zlb_farm_served_certificate_in_store',
      `1 when a certificate of the farm in the store has the same name and dates; 0 after a change without a restart ${source}, and GET /certificates).`,
      ({ isInStore: value }) => value,
    ),
    servedRows.gauge(
      'zlb_farm_served_certificate_valid_name',
      `1 when an alternative name of the served certificate covers the server name ${source}).`,
      ({ coversName }) => coversName,
    ),
    servedRows.info('zlb_farm_served_certificate_info', `The certificate that a farm serves ${source}).`, {
      common_name: ({ commonName }) => commonName,
      issuer: ({ issuer }) => issuer,
      serial: ({ serial }) => serial,
      fingerprint_sha256: ({ fingerprintSha256 }) => fingerprintSha256,
    }),
    farmRows.gauge(
      'zlb_farm_connect_duration_seconds',
      `Time until a TCP connection to a farm was made ${source}).`,
      ({ connectSeconds }) => connectSeconds,
    ),
    failureRows.info(
      'zlb_farm_probe_failure_info',
      `Why a probe of a farm failed: refused, timeout, tls, not_allowed ${source}).`,
    ),
  ],
};

/** Addresses of this machine, on which the exporter itself may listen. */
export function localAddresses(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  } catch (cause) {
    throw new Error('the addresses of this machine cannot be read; allow AF_NETLINK in its unit', { cause });
  }
}

/** Returns true for a farm that accepts the connection, and answers no handshake in time. */
export function answersNoHandshake({ isReachable, served }: Pick<ProbedFarm, 'isReachable' | 'served'>): boolean {
  return isReachable === true && served.length > 0 && served.every(({ failure }) => failure === 'timeout');
}

/**
 * Returns true for a farm whose proxy does not hang: a handshake was answered, or nobody listens
 * any more. A connection alone says nothing, since the kernel accepts it.
 */
export function hasNoHungProxy({ failure, served }: Pick<ProbedFarm, 'failure' | 'served'>): boolean {
  return failure === 'refused' || served.some((each) => each.failure !== 'timeout');
}

/** Returns true for a farm that did not answer its last probe in time. */
function hasTimedOut({ failure, served }: ProbedFarm): boolean {
  return failure === 'timeout' || served.some((each) => each.failure === 'timeout');
}

async function probeFarm(
  target: VipTarget,
  limit: Pick<ProbeRequest, 'withinMs'>,
  probe: (request: ProbeRequest) => Promise<ProbeResult>,
): Promise<
  Omit<
    ProbedFarm,
    'ranAtElapsedMs' | 'probedAtElapsedMs' | 'fullTimeAtElapsedMs' | 'answersSinceElapsedMs' | 'isByDefault'
  >
> {
  const { farm, basis, vip, vport, address, endpoint, serverNames, stored } = target;
  const about = { farm, basis, vip, vport, address };
  if (!endpoint)
    return { ...about, isReachable: undefined, connectSeconds: undefined, failure: 'not_allowed', served: [] };
  const [firstName, ...otherNames] = serverNames;
  const first = await probe({ ...endpoint, ...limit, serverName: firstName });
  const { isReachable, connectSeconds, failure } = first;
  if (!isReachable) return { ...about, isReachable, connectSeconds, failure, served: [] };
  const results = firstName === undefined ? [] : [{ serverName: firstName, ...first }];
  for (const serverName of otherNames) {
    // A farm that does not answer for one name would cost as much time for each other one.
    if (results.at(-1)?.failure === 'timeout') break;
    results.push({ serverName, ...(await probe({ ...endpoint, ...limit, serverName })) });
  }
  const served = results.map(({ serverName, failure: why, certificate }) => ({
    serverName,
    failure: why,
    certificate,
    isInStore: certificate && isInStore(certificate, stored),
  }));
  return { ...about, isReachable, connectSeconds, failure: undefined, served };
}

/**
 * Compares names and dates: the store does not say more. Returns undefined for a farm without
 * certificates, which passes TLS on to its backends.
 */
function isInStore(served: ServedCertificate, stored: readonly Certificate[] = []): boolean | undefined {
  if (stored.length === 0) return undefined;
  return stored.some(
    ({ commonName, notBeforeSeconds, notAfterSeconds }) =>
      (commonName === served.commonName || served.commonName === '') &&
      notBeforeSeconds === served.notBeforeSeconds &&
      notAfterSeconds === served.notAfterSeconds,
  );
}

function failuresIn(list: readonly ProbedFarm[]) {
  return list.flatMap(({ farm, failure, served }) =>
    [{ serverName: '', failure }, ...served].flatMap((each) =>
      each.failure === undefined ? [] : [{ farm, serverName: each.serverName, failure: each.failure }],
    ),
  );
}
