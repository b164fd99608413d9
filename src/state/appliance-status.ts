// Builds the status of an appliance, which the pages, /api/status and the plug-in show, from its
// readings. Then health.ts finds what is wrong (appliance-problems.ts, farm-problems.ts), and
// src/pages/status/ renders both.

import { activationCollector } from '../collectors/activation.ts';
import { applianceCollector } from '../collectors/appliance.ts';
import { backendsCollector } from '../collectors/backends.ts';
import { type Certificate, certificatesCollector } from '../collectors/certificates.ts';
import type { Collector } from '../collectors/collector.ts';
import { areAllChecked, farmConfigCollector, profilesWithoutCertificates } from '../collectors/farm-config.ts';
import { farmConnectionsCollector } from '../collectors/farm-connections.ts';
import type { Farm } from '../appliance/farm.ts';
import { type AskedFarm, nextAskElapsedMs } from '../collectors/farm-states.ts';
import { farmsCollector } from '../collectors/farms.ts';
import { interfacesCollector } from '../collectors/interfaces.ts';
import { answersNoHandshake, hasNoHungProxy, type ProbedFarm, vipCollector } from '../collectors/vip.ts';
import { closedState } from '../lib/states.ts';
import { type Moment, type Reading, readingIn } from './reading.ts';
import type {
  ActivationStatus,
  ApplianceStatus,
  BackendStatus,
  CertificateStatus,
  FarmStatus,
  InterfaceStatus,
  LastKnownUse,
  FarmObjective,
  ProbeStatus,
} from './status.ts';

/** The readings of an appliance at one moment, with what the scheduler knows of it. */
interface Snapshot
  extends Pick<
    ApplianceStatus,
    | 'name'
    | 'url'
    | 'labels'
    | 'up'
    | 'failing'
    | 'deactivated'
    | 'breaker'
    | 'apiCertificate'
    | 'series'
    | 'seriesLeftOut'
    | 'collectors'
  > {
  readonly objectives?: readonly FarmObjective[] | undefined;
  readonly isRequestLogEmpty?: boolean | undefined;
  readonly readings: ReadonlyMap<string, Reading>;
  /** Readings that are too old to be shown. */
  readonly lastKnown: ReadonlyMap<string, Reading>;
  /** Converts from the elapsed clock. */
  readonly unixMsOf: (atElapsedMs: number) => number;
}

/** Collectors with fields of their own in the status; the data of all others is in `readings`. */
const presentedCollectors: ReadonlySet<string> = new Set(
  [
    activationCollector,
    applianceCollector,
    backendsCollector,
    certificatesCollector,
    farmConfigCollector,
    farmConnectionsCollector,
    farmsCollector,
    interfacesCollector,
    vipCollector,
  ].map(({ name }: Pick<Collector, 'name'>) => name),
);

export function buildApplianceStatus(snapshot: Snapshot): ApplianceStatus {
  const description = readingIn(snapshot.readings, applianceCollector)?.data;
  const activation = readingIn(snapshot.readings, activationCollector)?.data;
  const farms = buildFarms(snapshot);
  return {
    name: snapshot.name,
    url: snapshot.url,
    labels: snapshot.labels,
    up: snapshot.up,
    ...(snapshot.failing && { failing: snapshot.failing }),
    deactivated: snapshot.deactivated,
    product: description?.product,
    version: description?.version || undefined,
    edition: activation?.edition ?? (description?.edition || undefined),
    hostname: description?.hostname || undefined,
    breaker: snapshot.breaker,
    ...(snapshot.apiCertificate && { apiCertificate: snapshot.apiCertificate }),
    farms,
    probes: countProbes(snapshot),
    certificates: buildCertificates(snapshot, farms),
    activation: activation && buildActivation(activation),
    interfaces: buildInterfaces(snapshot),
    series: snapshot.series,
    seriesLeftOut: snapshot.seriesLeftOut,
    ...(snapshot.objectives && buildObjectives(snapshot.objectives, snapshot.isRequestLogEmpty === true)),
    readings: otherReadings([...snapshot.readings.values()].filter(({ farm }) => farm === undefined)),
    collectors: snapshot.collectors,
  };
}

/** Returns all readings of a collector that reads farm by farm. */
function readingsOf<Data>(all: readonly Reading[], { name }: Collector<Data>): readonly Reading<Data>[] {
  // Only what this collector returned is stored under its name.
  return all.filter(({ collector }) => collector === name) as readonly Reading<Data>[];
}

function buildFarms(snapshot: Snapshot): readonly FarmStatus[] | undefined {
  const reading = readingIn(snapshot.readings, farmsCollector);
  const byFarm = Map.groupBy(snapshot.readings.values(), ({ farm }) => farm);
  const probed = new Map(readingIn(snapshot.readings, vipCollector)?.data.map((each) => [each.farm, each]));
  const connections = connectionsIn(snapshot);
  return reading?.data.farms.map((farm) => ({
    ...buildFarm(snapshot, farm, reading, byFarm.get(farm.name) ?? []),
    ...(farm.isSilent && buildSilence(snapshot, probed.get(farm.name), farm, reading)),
    ...connections(farm.name, reading),
    probe: buildProbe(snapshot, probed.get(farm.name), farm, reading),
  }));
}

/** Returns when a silent farm was asked and will be, and whether a later handshake shows that it serves. */
function buildSilence(
  snapshot: Snapshot,
  probed: ProbedFarm | undefined,
  farm: AskedFarm,
  list: Reading,
): Pick<FarmStatus, 'isSilent' | 'answersClients' | 'askedMs' | 'nextLookMs'> {
  const answersClients = probed !== undefined && hasHandshakeSince(probed, farm, list);
  const askedMs = snapshot.unixMsOf(farmAskedAtElapsedMs(farm, list));
  if (answersClients) return { isSilent: false, answersClients, askedMs };
  const nextMs = nextAskElapsedMs(farm);
  return { askedMs, ...(nextMs !== undefined && { nextLookMs: snapshot.unixMsOf(nextMs) }) };
}

/** Returns true if a handshake succeeded after the appliance was asked for the farm. */
function hasHandshakeSince(probed: ProbedFarm, farm: AskedFarm, list: Reading): boolean {
  const hasHandshook = probed.isReachable === true && hasNoHungProxy(probed);
  return hasHandshook && probed.probedAtElapsedMs > farmAskedAtElapsedMs(farm, list) && !isOutdated(probed, farm, list);
}

function farmAskedAtElapsedMs({ lastAsk }: AskedFarm, { askedAtElapsedMs }: Reading): number {
  return lastAsk?.atElapsedMs ?? askedAtElapsedMs;
}

/** Returns a function that finds the connections of a farm, unless they were counted before it changed. */
function connectionsIn(snapshot: Snapshot) {
  const counted = readingIn(snapshot.readings, farmConnectionsCollector);
  const byFarm = new Map(counted?.data.map((each) => [each.farm, each]));
  return (farm: string, { changedAt }: Reading): Pick<FarmStatus, 'established' | 'pending'> => {
    const changed = changedAt?.({ object: 'farm', labels: { farm } });
    if (!counted || (changed && counted.askedAtElapsedMs < changed.atElapsedMs)) return {};
    const { established, pending } = byFarm.get(farm) ?? {};
    return { established, pending };
  };
}

function buildFarm(
  snapshot: Snapshot,
  farm: AskedFarm,
  { changedAt }: Reading,
  farmReadings: readonly Reading[],
): FarmStatus {
  // `lastAsk` is only for the collector.
  const { lastAsk: _, ...shown } = farm;
  const { name } = farm;
  const state = closedState('farm', farm.state);
  const changed = changedAt?.({ object: 'farm', labels: { farm: name } });
  const configReading = readingIn(snapshot.readings, farmConfigCollector, name);
  const config = configReading?.data;
  const listed = buildBackends(snapshot, name, changed);
  const named = config?.backends?.map(({ service, backend }) => ({ service, backend }));
  const isKnown = listed !== undefined && !isEmptyWithoutMeaning(state, listed, named);
  return {
    ...shown,
    state,
    sinceMs: changed?.atMs,
    hasHealthCheck: config && areAllChecked(config.checks),
    ...(config?.logs !== undefined && { logs: config.logs }),
    ...(config?.proxy && { proxy: config.proxy }),
    certificates: config?.certificates,
    ...(configReading && { configuredAtMs: snapshot.unixMsOf(configReading.askedAtElapsedMs) }),
    backends: isKnown ? listed : undefined,
    configuredBackends: isKnown ? undefined : named,
    readings: otherReadings(farmReadings),
  };
}

function buildObjectives(
  objectives: readonly FarmObjective[],
  isRequestLogEmpty: boolean,
): Pick<ApplianceStatus, 'objectives' | 'latencyObjectives' | 'isRequestLogEmpty'> {
  const timed = objectives.filter(({ hasLatency }) => hasLatency).map(({ farm }) => farm);
  return {
    objectives: objectives.map(({ farm }) => farm),
    ...(timed.length > 0 && { latencyObjectives: timed }),
    ...(isRequestLogEmpty && { isRequestLogEmpty }),
  };
}

/**
 * Counts the farms that were probed since they changed, and those that are reached: they accept a
 * connection and then answer, since the kernel also accepts for a proxy that hangs.
 */
function countProbes(snapshot: Snapshot): ApplianceStatus['probes'] {
  const list = readingIn(snapshot.readings, farmsCollector);
  const listed = list && new Map(list.data.farms.map((farm) => [farm.name, farm]));
  const probed = (readingIn(snapshot.readings, vipCollector)?.data ?? []).filter((each) => {
    if (each.isReachable === undefined) return false;
    if (!list) return true;
    const farm = listed?.get(each.farm);
    return farm !== undefined && !isOutdated(each, farm, list);
  });
  if (probed.length === 0) return undefined;
  const isSilent = (each: ProbedFarm): boolean => {
    const farm = listed?.get(each.farm);
    return list !== undefined && farm?.isSilent === true && !hasHandshakeSince(each, farm, list);
  };
  const accepting = probed.filter(({ isReachable }) => isReachable);
  const unanswered = accepting.filter((each) => answersNoHandshake(each) || isSilent(each)).map(({ farm }) => farm);
  const reached = accepting.length - unanswered.length;
  const oldestMs = snapshot.unixMsOf(Math.min(...probed.map(({ probedAtElapsedMs }) => probedAtElapsedMs)));
  return { farms: probed.length, reached, oldestMs, ...(unanswered.length > 0 && { unanswered }) };
}

function buildProbe(
  snapshot: Snapshot,
  probed: ProbedFarm | undefined,
  farm: Farm,
  list: Reading,
): ProbeStatus | undefined {
  if (!probed || isOutdated(probed, farm, list)) return undefined;
  if (probed.isByDefault && probed.isReachable === undefined) return undefined;
  const { isReachable, connectSeconds, failure, served, address, probedAtElapsedMs } = probed;
  return { isReachable, connectSeconds, failure, served, address, atMs: snapshot.unixMsOf(probedAtElapsedMs) };
}

/** Returns true if the farm changed after the probe. */
function isOutdated({ basis, probedAtElapsedMs }: ProbedFarm, farm: Farm, { changedAt }: Reading): boolean {
  const { state, vip, vport } = basis.listed;
  if (state !== farm.state || vip !== farm.vip || vport !== farm.vport) return true;
  const changed = changedAt?.({ object: 'farm', labels: { farm: farm.name } });
  return changed !== undefined && probedAtElapsedMs < changed.atElapsedMs;
}

/**
 * Returns true for an empty list although the farm may have backends: the farm was stopped, or its
 * configuration names some. Some releases list none while the control socket of the proxy hangs.
 */
function isEmptyWithoutMeaning(
  state: string,
  listed: readonly unknown[],
  configured: readonly unknown[] = [],
): boolean {
  return listed.length === 0 && (state === 'down' || configured.length > 0);
}

/** Returns undefined also for backends that were read before their farm changed. */
function buildBackends(
  snapshot: Snapshot,
  farm: string,
  changed: Moment | undefined,
): readonly BackendStatus[] | undefined {
  const reading = readingIn(snapshot.readings, backendsCollector, farm);
  if (!reading || (changed && reading.askedAtElapsedMs < changed.atElapsedMs)) return undefined;
  const { data, changedAt } = reading;
  return data.backends?.map(({ service, backend, state, established }) => ({
    service,
    backend,
    state: closedState('backend', state),
    established,
    sinceMs: changedAt?.({ object: 'backend', labels: { farm, service, backend } })?.atMs,
  }));
}

function buildCertificates(
  snapshot: Snapshot,
  farms: readonly FarmStatus[] | undefined,
): readonly CertificateStatus[] | undefined {
  const store = readingIn(snapshot.readings, certificatesCollector)?.data;
  const excluded = readingIn(snapshot.readings, farmsCollector)?.data.excluded;
  const farmsByFile = usersByFile(farms ?? []);
  const lastUses = lastUsesByFile(snapshot);
  const configuredAt = (farms ?? []).flatMap(({ configuredAtMs }) => configuredAtMs ?? []);
  const usersReadMs = Math.min(...configuredAt);
  const areAllKnown = excluded === 0 && farmsByFile !== undefined && farms?.every(arePresentedKnown) === true;
  return store?.map((each) => {
    const users = farmsByFile?.get(each.file);
    const presenting = users?.filter(({ probe }) => probe?.served.some(({ certificate }) => certificate)) ?? [];
    const servedBy = presenting.filter((farm) => serves(farm, each)).map(({ name }) => name);
    const notServedBy = presenting.filter((farm) => servesAnother(farm, each)).map(({ name }) => name);
    const usedBy = users?.map(({ name }) => name) ?? (areAllKnown ? [] : undefined);
    const lastKnownUse = usedBy ? undefined : lastUses?.get(each.file);
    return {
      ...each,
      state: closedState('certificate', each.state),
      usedBy,
      ...(configuredAt.length > 0 && { usersReadMs }),
      ...(lastKnownUse && { lastKnownUse }),
      ...(servedBy.length > 0 && { servedBy }),
      ...(notServedBy.length > 0 && { notServedBy }),
    };
  });
}

/** Returns true if the farm serves a certificate with the name and dates of this one. */
function serves({ probe }: FarmStatus, { commonName, notBeforeSeconds, notAfterSeconds }: Certificate): boolean {
  return (
    probe?.served.some(
      ({ isInStore, certificate }) =>
        isInStore === true &&
        certificate?.commonName === commonName &&
        certificate.notBeforeSeconds === notBeforeSeconds &&
        certificate.notAfterSeconds === notAfterSeconds,
    ) === true
  );
}

/**
 * Returns true if the farm serves a certificate of the same name that the store does not have.
 * Nobody can tell that for one of several without a name.
 */
function servesAnother({ probe, certificates }: FarmStatus, { commonName }: Certificate): boolean {
  if (commonName === '' && certificates?.length !== 1) return false;
  return (
    probe?.served.some(
      ({ isInStore, certificate }) => isInStore === false && certificate?.commonName === commonName,
    ) === true
  );
}

/**
 * The most uses of certificates in a status. An appliance can name each certificate in each farm,
 * which would make a status of hundreds of MB.
 */
export const maxUses = 50_000;

/** Maps each file to the farms whose configuration names it; undefined for too many. */
function usersByFile(farms: readonly FarmStatus[]): ReadonlyMap<string, readonly FarmStatus[]> | undefined {
  if (isTooMany(farms)) return undefined;
  const users = new Map<string, FarmStatus[]>();
  for (const farm of farms)
    for (const file of farm.certificates ?? []) {
      const before = users.get(file);
      if (before) before.push(farm);
      else users.set(file, [farm]);
    }
  return users;
}

/**
 * Maps each file to the farms that named it when their configuration was last read, however long
 * ago; undefined for too many. Readings of deleted farms are removed.
 */
function lastUsesByFile({ readings, lastKnown, unixMsOf }: Snapshot): ReadonlyMap<string, LastKnownUse> | undefined {
  const configReadings = readingsOf([...lastKnown.values(), ...readings.values()], farmConfigCollector);
  if (isTooMany(configReadings.map(({ data }) => data))) return undefined;
  const uses = new Map<string, { readonly farms: string[]; readMs: number }>();
  for (const { data, askedAtElapsedMs } of configReadings) {
    const readMs = unixMsOf(askedAtElapsedMs);
    for (const file of data.certificates ?? []) {
      const before = uses.get(file);
      before?.farms.push(data.farm);
      if (before) before.readMs = Math.min(before.readMs, readMs);
      else uses.set(file, { farms: [data.farm], readMs });
    }
  }
  return uses;
}

function isTooMany(all: readonly { readonly certificates?: readonly string[] | undefined }[]): boolean {
  return all.reduce((sum, { certificates = [] }) => sum + certificates.length, 0) > maxUses;
}

/** Returns true if the certificates of a farm are known; some profiles have none. */
function arePresentedKnown({ certificates: files, profile }: FarmStatus): boolean {
  return files !== undefined || profilesWithoutCertificates.includes(profile);
}

function buildActivation({ status, kind, notBeforeSeconds, notAfterSeconds }: ActivationStatus): ActivationStatus {
  return { status, kind, notBeforeSeconds, notAfterSeconds };
}

function buildInterfaces(snapshot: Snapshot): readonly InterfaceStatus[] | undefined {
  const { data, changedAt } = readingIn(snapshot.readings, interfacesCollector) ?? {};
  return data?.interfaces.map(({ name, state }) => ({
    name,
    state: closedState('interface', state),
    sinceMs: changedAt?.({ object: 'interface', labels: { interface: name } })?.atMs,
  }));
}

/** Returns the data of the collectors without fields of their own, by name; undefined if there is none. */
function otherReadings(readings: readonly Reading[]): Readonly<Record<string, unknown>> | undefined {
  const others = readings.filter(({ collector }) => !presentedCollectors.has(collector));
  return others.length === 0 ? undefined : Object.fromEntries(others.map(({ collector, data }) => [collector, data]));
}
