import { appliance } from '../collectors/appliance.ts';
import type { ListedFarm } from '../collectors/ask-farms.ts';
import { backends } from '../collectors/backends.ts';
import { certificates } from '../collectors/certificates.ts';
import { type Collector, isFarmCollector } from '../collectors/collector.ts';
import type { ConfiguredKind, ConfiguredObject, ConfiguredSettings } from '../collectors/configured.ts';
import { farmConfig } from '../collectors/farm-config.ts';
import { farms } from '../collectors/farms.ts';
import { interfaces } from '../collectors/interfaces.ts';
import { createTimeSlice } from '../lib/time.ts';
import { keyOf, type Reading, readingIn } from '../state/reading.ts';
import { compareConfigured, plainDifference } from './differences.ts';
import type { Difference } from './event.ts';

/** The kinds of objects that twins have in common; interfaces have the addresses of the machine. */
export const twinKinds = ['version', 'certificate', 'farm', 'service', 'backend', 'check'] as const;

type TwinKind = (typeof twinKinds)[number];

/** Something that is not the same on two appliances; without a setting, one lacks the object. */
export interface TwinDifference extends Omit<Difference, 'before' | 'after'> {
  /** The value on the appliance; undefined where it lacks the object. */
  readonly here: string | undefined;
  /** The value on its twin. */
  readonly there: string | undefined;
}

export interface TwinComparison {
  readonly differences: readonly TwinDifference[];
  /** Kinds of which something is not known of both: there may be more differences. */
  readonly unknown: ReadonlySet<TwinKind>;
}

/** Parts that are never compared: neither between twins, nor between two readings of an appliance. */
export const neverCompared: readonly string[] = [
  'settings of L4 farms but their health check and backends, since reading them may cut these farms',
  'WAF sets and other rules of IPDS',
  'routes and VPNs',
];

/** The fresh readings of an appliance, by {@link keyOf}. */
export type Readings = ReadonlyMap<string, Reading>;

const ofFarms: readonly TwinKind[] = ['farm', 'service', 'backend', 'check'];

/** The readings that are compared, and the kinds of objects that are not known without them. */
const compared: readonly (readonly [Collector, readonly TwinKind[]])[] = [
  [appliance, ['version']],
  [certificates, ['certificate']],
  [farms, ofFarms],
  [farmConfig, ofFarms],
  [backends, ['backend']],
];

/** Maximum time in one tick of the event loop: an appliance may have fifty thousand backends. */
const sliceMs = 5;

/**
 * Compares the configurations of two appliances. A setting that one of them does not know is no
 * difference, and parts of a farm or of a service that one of them lacks are no further ones.
 */
export async function compareTwins(here: Readings, there: Readings): Promise<TwinComparison> {
  const slice = createTimeSlice(sliceMs);
  const [own, others] = [here, there].map(ownAddresses);
  const unknown = new Set<TwinKind>(own && others && !haveUnreadFarms(here, there) ? [] : ['farm']);
  // Each farm that uses a check has it.
  const differences = new Map<string, TwinDifference>();
  for (const [collector, kinds] of compared) {
    for (const key of keysOf(collector, here, there)) {
      if (slice.isOver) await slice.next();
      const [before, after] = [objectsIn(collector, here.get(key), own), objectsIn(collector, there.get(key), others)];
      if (!before || !after) for (const kind of kinds) unknown.add(kind);
      for (const each of before && after ? withoutParts(compareConfigured(before, after)) : []) {
        const { before: was, after: is, ...place } = plainDifference(each);
        const difference = { ...place, here: was, there: is };
        differences.set(JSON.stringify(difference), difference);
      }
    }
  }
  return { differences: [...differences.values()], unknown };
}

export function seenFromTwin({ differences, unknown }: TwinComparison): TwinComparison {
  const turned = differences.map(({ here, there, ...place }) => {
    const name = place.setting === 'name' && there !== undefined ? there : place.name;
    return { ...place, name, here: there, there: here };
  });
  return { differences: turned, unknown };
}

/** Says in a sentence what a failover to the twin, or from it, would do. */
export function failoverSentence(difference: TwinDifference, twin: string): string {
  const { setting, here, there } = difference;
  // No failover changes the product of a machine.
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
  if (!isFarmCollector(collector)) return [name];
  const common = new Set(farmsIn(there).map((farm) => farm.name));
  // Backends of other farms are in their configuration.
  const isRead = (farm: ListedFarm): boolean =>
    collector.covers({ ...farm, isSilent: false }) && (collector !== backends || farm.profile === 'l4xnat');
  return farmsIn(here).flatMap((farm) =>
    common.has(farm.name) && isRead(farm) ? keyOf({ collector: name, farm: farm.name }) : [],
  );
}

/** Returns true if both have an L4 farm of one name whose settings are not read, since that may act. */
function haveUnreadFarms(here: Readings, there: Readings): boolean {
  const isUnread = (readings: Readings, name: string): boolean => {
    const reading = readings.get(keyOf({ collector: farmConfig.name, farm: name }));
    const farm = objectsIn(farmConfig, reading, undefined)?.find(({ object }) => object === 'farm');
    return farm !== undefined && !('protocol' in farm.settings);
  };
  const common = new Set(farmsIn(there).map(({ name }) => name));
  return farmsIn(here).some(
    ({ name, profile }) => profile === 'l4xnat' && common.has(name) && (isUnread(here, name) || isUnread(there, name)),
  );
}

function farmsIn(readings: Readings): readonly ListedFarm[] {
  return readingIn(readings, farms)?.data.farms ?? [];
}

/** Returns undefined where nobody knows all objects of a reading. */
function objectsIn(
  collector: Collector,
  reading: Reading | undefined,
  own: ReadonlySet<string> | undefined,
): readonly ConfiguredObject[] | undefined {
  const objects = reading?.isWhole === true ? collector.configured?.(reading.data) : undefined;
  // A signing request waits on one machine for its certificate.
  return objects
    ?.filter(
      ({ object, name, settings }) => object !== 'certificate' || (settings.kind !== 'csr' && !ofVendors.has(name)),
    )
    .map((each) => ({ ...each, settings: commonSettings(each, own) }));
}

/** The certificates of the web interface that each product brings with it. */
const ofVendors: ReadonlySet<string> = new Set(['noid_ssl_cert.pem', 'skdcert.pem', 'zencert.pem']);

/** Settings that belong to one machine alone, or say in other words what others say. */
const leftOut: Partial<Record<ConfiguredKind, readonly string[]>> = {
  version: ['hostname'],
  certificate: ['issuer', 'not_before'],
};

function commonSettings(
  { object, settings }: ConfiguredObject,
  own: ReadonlySet<string> | undefined,
): ConfiguredSettings {
  const isOwnVip = object === 'farm' && settings.vip !== undefined && (!own || own.has(settings.vip));
  const names = isOwnVip ? ['vip'] : leftOut[object];
  return names ? Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name))) : settings;
}

/** Returns the addresses of the machine itself, which no failover moves. */
function ownAddresses(readings: Readings): ReadonlySet<string> | undefined {
  const objects = objectsIn(interfaces, readings.get(interfaces.name), undefined);
  return objects && new Set(objects.flatMap(({ settings: { kind, ip } }) => (kind === 'virtual' || !ip ? [] : ip)));
}

/** Leaves out the backends of a service that one of the two lacks. */
function withoutParts(found: ReturnType<typeof compareConfigured>): ReturnType<typeof compareConfigured> {
  const services = new Set(
    found.flatMap(({ object, service, setting }) => (object === 'service' && !setting ? service : [])),
  );
  return found.filter(({ object, service }) => object !== 'backend' || !services.has(service));
}
