import { activation } from '../collectors/activation.ts';
import { appliance } from '../collectors/appliance.ts';
import { nextLookAtMs } from '../collectors/ask-farms.ts';
import { backends } from '../collectors/backends.ts';
import { type Certificate, certificates } from '../collectors/certificates.ts';
import { closedState, type Collector } from '../collectors/collector.ts';
import { areAllChecked, farmConfig, profilesWithoutCertificates } from '../collectors/farm-config.ts';
import { farmConnections } from '../collectors/farm-connections.ts';
import type { ListedFarm } from '../collectors/ask-farms.ts';
import { farms } from '../collectors/farms.ts';
import { interfaces } from '../collectors/interfaces.ts';
import { hasAnswered, isUnanswered, type ProbedFarm, vip as probes } from '../collectors/vip.ts';
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

/** One appliance at one moment: all that its description is made from. */
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
  readonly isLogSilent?: boolean | undefined;
  readonly readings: ReadonlyMap<string, Reading>;
  /** Readings that are too old to be shown. */
  readonly lastKnown: ReadonlyMap<string, Reading>;
  /** Converts a moment on the elapsed clock to Unix milliseconds. */
  readonly timeOf: (elapsedMs: number) => number;
}

/** Collectors whose data is presented field by field; the data of all others is shown as it is. */
const presented: ReadonlySet<string> = new Set(
  [activation, appliance, backends, certificates, farmConfig, farmConnections, farms, interfaces, probes].map(
    ({ name }: Pick<Collector, 'name'>) => name,
  ),
);

export function describeAppliance(snapshot: Snapshot): ApplianceStatus {
  const description = readingIn(snapshot.readings, appliance)?.data;
  const activated = readingIn(snapshot.readings, activation)?.data;
  const farmList = describeFarms(snapshot);
  return {
    name: snapshot.name,
    url: snapshot.url,
    labels: snapshot.labels,
    up: snapshot.up,
    ...(snapshot.failing && { failing: snapshot.failing }),
    deactivated: snapshot.deactivated,
    product: description?.product,
    version: description?.version || undefined,
    edition: activated?.edition ?? (description?.edition || undefined),
    hostname: description?.hostname || undefined,
    breaker: snapshot.breaker,
    ...(snapshot.apiCertificate && { apiCertificate: snapshot.apiCertificate }),
    farms: farmList,
    probes: describeProbes(snapshot),
    certificates: describeCertificates(snapshot, farmList),
    activation: activated && describeActivation(activated),
    interfaces: describeInterfaces(snapshot),
    series: snapshot.series,
    seriesLeftOut: snapshot.seriesLeftOut,
    ...(snapshot.objectives && describeObjectives(snapshot.objectives, snapshot.isLogSilent === true)),
    readings: otherReadings([...snapshot.readings.values()].filter(({ farm }) => farm === undefined)),
    collectors: snapshot.collectors,
  };
}

/** Returns the readings of a collector that asks farm by farm. */
function readingsOf<Data>(all: readonly Reading[], { name }: Collector<Data>): readonly Reading<Data>[] {
  // The poller stores nothing else under this name than what this collector returned.
  return all.filter(({ collector }) => collector === name) as readonly Reading<Data>[];
}

function describeFarms(snapshot: Snapshot): readonly FarmStatus[] | undefined {
  const reading = readingIn(snapshot.readings, farms);
  const byFarm = Map.groupBy(snapshot.readings.values(), ({ farm }) => farm);
  const probed = new Map(readingIn(snapshot.readings, probes)?.data.map((each) => [each.farm, each]));
  const connections = connectionsIn(snapshot);
  return reading?.data.farms.map((farm) => ({
    ...describeFarm(snapshot, farm, reading, byFarm.get(farm.name) ?? []),
    ...(farm.isSilent && describeSilence(snapshot, probed.get(farm.name), farm, reading)),
    ...connections(farm.name, reading),
    probe: describeProbe(snapshot, probed.get(farm.name), farm, reading),
  }));
}

/** Says when a silent farm was asked and will be, and whether a later handshake shows that it serves. */
function describeSilence(
  snapshot: Snapshot,
  probed: ProbedFarm | undefined,
  farm: ListedFarm,
  list: Reading,
): Pick<FarmStatus, 'isSilent' | 'answersClients' | 'askedMs' | 'nextLookMs'> {
  const answersClients = probed !== undefined && answersSince(probed, farm, list);
  const askedMs = snapshot.timeOf(askedAtMs(farm, list));
  if (answersClients) return { isSilent: false, answersClients, askedMs };
  const nextMs = nextLookAtMs(farm);
  return { askedMs, ...(nextMs !== undefined && { nextLookMs: snapshot.timeOf(nextMs) }) };
}

/** Returns true for a handshake that came after the appliance was asked for the farm. */
function answersSince(probed: ProbedFarm, farm: ListedFarm, list: Reading): boolean {
  const hasHandshook = probed.isReachable === true && hasAnswered(probed);
  return hasHandshook && probed.probedAtMs > askedAtMs(farm, list) && !isOvertaken(probed, farm, list);
}

function askedAtMs({ asked }: ListedFarm, { takenAtMs }: Reading): number {
  return asked?.atMs ?? takenAtMs;
}

/** Returns what finds the connections of a farm, if they were counted since it last changed. */
function connectionsIn(snapshot: Snapshot) {
  const counted = readingIn(snapshot.readings, farmConnections);
  const byFarm = new Map(counted?.data.map((each) => [each.farm, each]));
  return (farm: string, { since }: Reading): Pick<FarmStatus, 'established' | 'pending'> => {
    const changed = since?.({ object: 'farm', labels: { farm } });
    if (!counted || (changed && counted.takenAtMs < changed.elapsedMs)) return {};
    const { established, pending } = byFarm.get(farm) ?? {};
    return { established, pending };
  };
}

function describeFarm(
  snapshot: Snapshot,
  farm: ListedFarm,
  { since }: Reading,
  ownReadings: readonly Reading[],
): FarmStatus {
  // When it was asked concerns the collector alone.
  const { asked: _, ...shown } = farm;
  const { name } = farm;
  const state = closedState('farm', farm.state);
  const changed = since?.({ object: 'farm', labels: { farm: name } });
  const configured = readingIn(snapshot.readings, farmConfig, name);
  const config = configured?.data;
  const listed = describeBackends(snapshot, name, changed);
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
    ...(configured && { configuredAtMs: snapshot.timeOf(configured.takenAtMs) }),
    backends: isKnown ? listed : undefined,
    configuredBackends: isKnown ? undefined : named,
    readings: otherReadings(ownReadings),
  };
}

function describeObjectives(
  objectives: readonly FarmObjective[],
  isLogSilent: boolean,
): Pick<ApplianceStatus, 'objectives' | 'latencyObjectives' | 'isLogSilent'> {
  const timed = objectives.filter(({ hasLatency }) => hasLatency).map(({ farm }) => farm);
  return {
    objectives: objectives.map(({ farm }) => farm),
    ...(timed.length > 0 && { latencyObjectives: timed }),
    ...(isLogSilent && { isLogSilent }),
  };
}

/**
 * Counts the farms that were probed since they last changed, and those that accept a connection.
 * Leaves out those that then do not answer, since the kernel also accepts for a proxy that hangs.
 */
function describeProbes(snapshot: Snapshot): ApplianceStatus['probes'] {
  const list = readingIn(snapshot.readings, farms);
  const listed = list && new Map(list.data.farms.map((farm) => [farm.name, farm]));
  const probed = (readingIn(snapshot.readings, probes)?.data ?? []).filter((each) => {
    if (each.isReachable === undefined) return false;
    if (!list) return true;
    const farm = listed?.get(each.farm);
    return farm !== undefined && !isOvertaken(each, farm, list);
  });
  if (probed.length === 0) return undefined;
  const isSilent = (each: ProbedFarm): boolean => {
    const farm = listed?.get(each.farm);
    return list !== undefined && farm?.isSilent === true && !answersSince(each, farm, list);
  };
  const accepting = probed.filter(({ isReachable }) => isReachable);
  const unanswered = accepting.filter((each) => isUnanswered(each) || isSilent(each)).map(({ farm }) => farm);
  const reached = accepting.length - unanswered.length;
  const oldestMs = snapshot.timeOf(Math.min(...probed.map(({ probedAtMs }) => probedAtMs)));
  return { farms: probed.length, reached, oldestMs, ...(unanswered.length > 0 && { unanswered }) };
}

function describeProbe(
  snapshot: Snapshot,
  probed: ProbedFarm | undefined,
  farm: ListedFarm,
  list: Reading,
): ProbeStatus | undefined {
  if (!probed || isOvertaken(probed, farm, list)) return undefined;
  if (probed.isUnasked && probed.isReachable === undefined) return undefined;
  const { isReachable, connectSeconds, failure, served, address, probedAtMs } = probed;
  return { isReachable, connectSeconds, failure, served, address, atMs: snapshot.timeOf(probedAtMs) };
}

/** Returns true for a probe after which the farm has changed: it says nothing. */
function isOvertaken({ known, probedAtMs }: ProbedFarm, farm: ListedFarm, { since }: Reading): boolean {
  const { state, vip, vport } = known.listed;
  if (state !== farm.state || vip !== farm.vip || vport !== farm.vport) return true;
  const changed = since?.({ object: 'farm', labels: { farm: farm.name } });
  return changed !== undefined && probedAtMs < changed.elapsedMs;
}

/**
 * Returns true for an empty list that does not mean that there are no backends. The farm was
 * stopped since it was read, or the configuration names some: some releases list none while the
 * control socket of the proxy does not answer.
 */
function isEmptyWithoutMeaning(
  state: string,
  listed: readonly unknown[],
  configured: readonly unknown[] = [],
): boolean {
  return listed.length === 0 && (state === 'down' || configured.length > 0);
}

/** Returns undefined also for backends that were read before their farm changed: it says more. */
function describeBackends(
  snapshot: Snapshot,
  farm: string,
  changed: Moment | undefined,
): readonly BackendStatus[] | undefined {
  const reading = readingIn(snapshot.readings, backends, farm);
  if (!reading || (changed && reading.takenAtMs < changed.elapsedMs)) return undefined;
  const { data, since } = reading;
  return data.backends?.map(({ service, backend, state, established }) => ({
    service,
    backend,
    state: closedState('backend', state),
    established,
    sinceMs: since?.({ object: 'backend', labels: { farm, service, backend } })?.atMs,
  }));
}

function describeCertificates(
  snapshot: Snapshot,
  farmList: readonly FarmStatus[] | undefined,
): readonly CertificateStatus[] | undefined {
  const store = readingIn(snapshot.readings, certificates)?.data;
  const excluded = readingIn(snapshot.readings, farms)?.data.excluded;
  const users = usersByFile(farmList ?? []);
  const lastUses = lastUsesByFile(snapshot);
  const configuredAt = (farmList ?? []).flatMap(({ configuredAtMs }) => configuredAtMs ?? []);
  const usersReadMs = Math.min(...configuredAt);
  const areAllKnown = excluded === 0 && users !== undefined && farmList?.every(isPresentedKnown) === true;
  return store?.map((each) => {
    const ownUsers = users?.get(each.file);
    const presenting = ownUsers?.filter(({ probe }) => probe?.served.some(({ certificate }) => certificate)) ?? [];
    const servedBy = presenting.filter((farm) => serves(farm, each)).map(({ name }) => name);
    const notServedBy = presenting.filter((farm) => servesAnother(farm, each)).map(({ name }) => name);
    const usedBy = ownUsers?.map(({ name }) => name) ?? (areAllKnown ? [] : undefined);
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
function servesAnother({ probe, certificates: files }: FarmStatus, { commonName }: Certificate): boolean {
  if (commonName === '' && files?.length !== 1) return false;
  return (
    probe?.served.some(
      ({ isInStore, certificate }) => isInStore === false && certificate?.commonName === commonName,
    ) === true
  );
}

/**
 * Uses of certificates by farms that are described. An appliance can name each certificate in each
 * farm, which takes little memory and makes a description of hundreds of MB.
 */
export const maxUses = 50_000;

/** Maps each file to the farms that are known to present it; undefined for too many. */
function usersByFile(farmList: readonly FarmStatus[]): ReadonlyMap<string, readonly FarmStatus[]> | undefined {
  if (isTooMany(farmList)) return undefined;
  const users = new Map<string, FarmStatus[]>();
  for (const farm of farmList)
    for (const file of farm.certificates ?? []) {
      const before = users.get(file);
      if (before) before.push(farm);
      else users.set(file, [farm]);
    }
  return users;
}

/**
 * Maps each file to the farms that presented it when their configuration was last read, however
 * long ago; undefined for too many. A farm that is gone has no reading.
 */
function lastUsesByFile({ readings, lastKnown, timeOf }: Snapshot): ReadonlyMap<string, LastKnownUse> | undefined {
  const configured = readingsOf([...lastKnown.values(), ...readings.values()], farmConfig);
  if (isTooMany(configured.map(({ data }) => data))) return undefined;
  const uses = new Map<string, { readonly farms: string[]; readMs: number }>();
  for (const { data, takenAtMs } of configured) {
    const readMs = timeOf(takenAtMs);
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
  return all.reduce((sum, { certificates: files = [] }) => sum + files.length, 0) > maxUses;
}

/** Returns true if it is known which certificates a farm presents; other profiles present none. */
function isPresentedKnown({ certificates: files, profile }: FarmStatus): boolean {
  return files !== undefined || profilesWithoutCertificates.includes(profile);
}

function describeActivation({ status, kind, notBeforeSeconds, notAfterSeconds }: ActivationStatus): ActivationStatus {
  return { status, kind, notBeforeSeconds, notAfterSeconds };
}

function describeInterfaces(snapshot: Snapshot): readonly InterfaceStatus[] | undefined {
  const { data, since } = readingIn(snapshot.readings, interfaces) ?? {};
  return data?.interfaces.map(({ name, state }) => ({
    name,
    state: closedState('interface', state),
    sinceMs: since?.({ object: 'interface', labels: { interface: name } })?.atMs,
  }));
}

/** Returns the data of other collectors, by name; undefined if there is none. */
function otherReadings(readings: readonly Reading[]): Readonly<Record<string, unknown>> | undefined {
  const others = readings.filter(({ collector }) => !presented.has(collector));
  return others.length === 0 ? undefined : Object.fromEntries(others.map(({ collector, data }) => [collector, data]));
}
