import { applianceCollector } from '../collectors/appliance.ts';
import type { Farm } from '../appliance/farm.ts';
import { backendsCollector } from '../collectors/backends.ts';
import { certificatesCollector } from '../collectors/certificates.ts';
import { type Collector, isPerFarmCollector } from '../collectors/collector.ts';
import type { ConfiguredKind, ConfiguredObject, ConfiguredSettings } from '../collectors/configured.ts';
import { farmConfigCollector } from '../collectors/farm-config.ts';
import { farmsCollector } from '../collectors/farms.ts';
import { interfacesCollector } from '../collectors/interfaces.ts';
import { createTimeSlice } from '../lib/time.ts';
import { readingKey, type Reading, readingIn } from '../state/reading.ts';
import { compareConfigured, toDifference } from './differences.ts';
import type { Difference } from './event.ts';

/** The kinds of objects that twins share; interfaces have the addresses of one machine. */
export const twinKinds = ['version', 'certificate', 'farm', 'service', 'backend', 'check'] as const;

type TwinKind = (typeof twinKinds)[number];

/** A setting that differs between two appliances; without a setting, one of them lacks the object. */
export interface TwinDifference extends Omit<Difference, 'before' | 'after'> {
  /** The value on the appliance; undefined where it lacks the object. */
  readonly here: string | undefined;
  /** The value on its twin. */
  readonly there: string | undefined;
}

export interface TwinComparison {
  readonly differences: readonly TwinDifference[];
  /** Kinds that were not completely read from both: there may be more differences. */
  readonly unknown: ReadonlySet<TwinKind>;
}

/** What is never compared, neither between twins nor between two readings of an appliance. */
export const neverCompared: readonly string[] = [
  'settings of L4 farms but their health check and backends, since reading them may cut these farms',
  'WAF sets and other rules of IPDS',
  'routes and VPNs',
];

/** The fresh readings of an appliance, by {@link readingKey}. */
export type Readings = ReadonlyMap<string, Reading>;

const ofFarms: readonly TwinKind[] = ['farm', 'service', 'backend', 'check'];

/** The readings that are compared, and the kinds of objects that are unknown without them. */
const comparedReadings: readonly (readonly [Collector, readonly TwinKind[]])[] = [
  [applianceCollector, ['version']],
  [certificatesCollector, ['certificate']],
  [farmsCollector, ofFarms],
  [farmConfigCollector, ofFarms],
  [backendsCollector, ['backend']],
];

/** Maximum time in one tick of the event loop: an appliance may have fifty thousand backends. */
const sliceMs = 5;

/**
 * Compares the configurations of two appliances. A setting that one of them does not know is not a
 * difference. If one lacks a farm or a service, what belongs to it is not reported as well.
 */
export async function compareTwins(here: Readings, there: Readings): Promise<TwinComparison> {
  const slice = createTimeSlice(sliceMs);
  const [hereAddresses, thereAddresses] = [here, there].map(machineAddresses);
  const unknown = new Set<TwinKind>(hereAddresses && thereAddresses && !haveUnreadFarms(here, there) ? [] : ['farm']);
  // Each farm that uses a check has it.
  const differences = new Map<string, TwinDifference>();
  for (const [collector, kinds] of comparedReadings) {
    for (const key of keysOf(collector, here, there)) {
      if (slice.isOver) await slice.next();
      const before = objectsIn(collector, here.get(key), hereAddresses);
      const after = objectsIn(collector, there.get(key), thereAddresses);
      if (!before || !after) for (const kind of kinds) unknown.add(kind);
      for (const each of before && after ? withoutBackendsOfMissingServices(compareConfigured(before, after)) : []) {
        const { before: was, after: is, ...place } = toDifference(each);
        const difference = { ...place, here: was, there: is };
        differences.set(JSON.stringify(difference), difference);
      }
    }
  }
  return { differences: [...differences.values()], unknown };
}

export function fromTwinsSide({ differences, unknown }: TwinComparison): TwinComparison {
  const turned = differences.map(({ here, there, ...place }) => {
    const name = place.setting === 'name' && there !== undefined ? there : place.name;
    return { ...place, name, here: there, there: here };
  });
  return { differences: turned, unknown };
}

/** Returns a sentence on what a failover to or from the twin would do. */
export function failoverSentence(difference: TwinDifference, twin: string): string {
  const { setting, here, there } = difference;
  if (difference.object === 'version')
    return `${twin} has another ${setting}: ${there ?? ''} instead of ${here ?? ''}.`;
  const object = objectWords(difference);
  if (there === undefined) return `A failover to ${twin} now would lose ${object}.`;
  if (here === undefined) return `A failover from ${twin} now would lose ${object}.`;
  if (setting === 'name') return `A failover to ${twin} now would replace ${object} by ${there}.`;
  return `A failover to ${twin} now would change ${setting} of ${object}.`;
}

function objectWords({ object, farm, service, name }: TwinDifference): string {
  const kind = object === 'check' ? 'health check' : object;
  const of = [
    object === 'backend' && service !== '' && `service ${service}`,
    object !== 'farm' && farm && `farm ${farm}`,
  ];
  return [`${kind} ${name}`, ...of.filter(Boolean)].join(' of ');
}

/** Returns the keys of the readings to compare: of farms those that both have. */
function keysOf(collector: Collector, here: Readings, there: Readings): readonly string[] {
  const { name } = collector;
  if (!isPerFarmCollector(collector)) return [name];
  const common = new Set(farmsIn(there).map((farm) => farm.name));
  // Backends of other farms are in their configuration.
  const isRead = (farm: Farm): boolean =>
    collector.covers({ ...farm, isSilent: false }) && (collector !== backendsCollector || farm.profile === 'l4xnat');
  return farmsIn(here).flatMap((farm) =>
    common.has(farm.name) && isRead(farm) ? readingKey({ collector: name, farm: farm.name }) : [],
  );
}

/** Returns true if both have an L4 farm of the same name whose settings are not read, since the read may act. */
function haveUnreadFarms(here: Readings, there: Readings): boolean {
  const isUnread = (readings: Readings, name: string): boolean => {
    const reading = readings.get(readingKey({ collector: farmConfigCollector.name, farm: name }));
    const farm = objectsIn(farmConfigCollector, reading, undefined)?.find(({ object }) => object === 'farm');
    return farm !== undefined && !('protocol' in farm.settings);
  };
  const common = new Set(farmsIn(there).map(({ name }) => name));
  return farmsIn(here).some(
    ({ name, profile }) => profile === 'l4xnat' && common.has(name) && (isUnread(here, name) || isUnread(there, name)),
  );
}

function farmsIn(readings: Readings): readonly Farm[] {
  return readingIn(readings, farmsCollector)?.data.farms ?? [];
}

/** Returns undefined if not all objects of a reading could be read. */
function objectsIn(
  collector: Collector,
  reading: Reading | undefined,
  addressesOfMachine: ReadonlySet<string> | undefined,
): readonly ConfiguredObject[] | undefined {
  const objects = reading?.isWhole === true ? collector.configuredObjects?.(reading.data) : undefined;
  // A signing request stays on one machine until its certificate comes.
  return objects
    ?.filter(
      ({ object, name, settings }) =>
        object !== 'certificate' || (settings.kind !== 'csr' && !vendorCertificates.has(name)),
    )
    .map((each) => ({ ...each, settings: sharedSettings(each, addressesOfMachine) }));
}

/** The certificates of the web interface that the products ship. */
const vendorCertificates: ReadonlySet<string> = new Set(['noid_ssl_cert.pem', 'skdcert.pem', 'zencert.pem']);

/** Settings of one machine alone, or with the same meaning as others. */
const machineSettings: Partial<Record<ConfiguredKind, readonly string[]>> = {
  version: ['hostname'],
  certificate: ['issuer', 'not_before'],
};

function sharedSettings(
  { object, settings }: ConfiguredObject,
  addressesOfMachine: ReadonlySet<string> | undefined,
): ConfiguredSettings {
  const isOwnVip =
    object === 'farm' && settings.vip !== undefined && (!addressesOfMachine || addressesOfMachine.has(settings.vip));
  const names = isOwnVip ? ['vip'] : machineSettings[object];
  return names ? Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name))) : settings;
}

/** Returns the addresses that stay on the machine in a failover. */
function machineAddresses(readings: Readings): ReadonlySet<string> | undefined {
  const objects = objectsIn(interfacesCollector, readings.get(interfacesCollector.name), undefined);
  return objects && new Set(objects.flatMap(({ settings: { kind, ip } }) => (kind === 'virtual' || !ip ? [] : ip)));
}

function withoutBackendsOfMissingServices(
  found: ReturnType<typeof compareConfigured>,
): ReturnType<typeof compareConfigured> {
  const services = new Set(
    found.flatMap(({ object, service, setting }) => (object === 'service' && !setting ? service : [])),
  );
  return found.filter(({ object, service }) => object !== 'backend' || !services.has(service));
}
