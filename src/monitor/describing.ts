import type { BreakerState } from '../appliance/breaker.ts';
import type { Facts } from '../collectors/collector.ts';
import { kept, keptList, keptRows } from '../lib/same.ts';
import { presentsTheSame, withUsers } from './certificate-users.ts';
import type { DatedFindings } from './dated-findings.ts';
import type { Display } from './display.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { HeldReading, Shelf } from './shelf.ts';
import type { ApplianceStatus, CertificateStatus, CollectorStatus, FarmStatus } from './status.ts';

/** Says of one appliance what people want to know: from the readings that stand on the page, and from our own doings. */
export interface Describing {
  /** Something happened that is not a reading. */
  changed(): void;
  /** As of now. Nothing is put together anew until something is another than before. */
  describe(): ApplianceStatus;
}

export interface DescribingParts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly jobs: ReadonlyMap<string, Job>;
  readonly facts: Pick<Facts, 'licensed'>;
  readonly shelf: Pick<Shelf, 'readings' | 'withholding' | 'version'>;
  readonly display: Pick<Display, 'withhold' | 'isUp' | 'series'>;
  readonly ledger: Pick<Ledger, 'state'>;
  readonly failures: Pick<FailureLog, 'trouble'>;
  readonly breakerState: () => BreakerState;
  readonly isSupported: (collector: string) => boolean;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

const nothing: DatedFindings = {};

export function createDescribing(parts: DescribingParts): Describing {
  const { name, labels, jobs, facts, shelf, display, ledger, failures, breakerState, isSupported } = parts;
  let current: ApplianceStatus | undefined;
  /** What the readings said when `current` was put together. */
  let told = nothing;
  let version = 0;
  let withholding = shelf.withholding;
  /** Something of our own doings is another than in `current`. */
  let isBehind = true;

  function describeAnew(up: boolean | undefined): ApplianceStatus {
    const { whole, ofFarms, leftOut } = gather(shelf.readings());
    const farms = whole.farms && describeFarms(whole.farms, ofFarms);
    const certificates = describeCertificates(whole, farms);
    told = whole;
    const { activation, interfaces, version: release, edition, hostname } = whole;
    return {
      name,
      labels,
      up,
      deactivated: facts.licensed === false,
      version: release,
      edition,
      hostname,
      breaker: breakerState(),
      farms,
      certificates,
      activation,
      interfaces,
      series: display.series,
      seriesLeftOut: leftOut,
      collectors: describeCollectors(),
    };
  }

  function describeFarms(
    farms: NonNullable<DatedFindings['farms']>,
    ofFarms: Gathered['ofFarms'],
  ): readonly FarmStatus[] {
    const next = farms.map((farm, index): FarmStatus => {
      const { backends: listed, configuredBackends: configured, ...config } = ofFarms.get(farm.name) ?? nothing;
      const { hasHealthCheck, certificates } = config;
      const backends = listed && isEmptyWithoutMeaning(farm.state, listed, configured) ? undefined : listed;
      const configuredBackends = backends ? undefined : configured;
      const before = current?.farms?.[index];
      const isSame =
        farm === told.farms?.[index] &&
        backends === before?.backends &&
        configuredBackends === before?.configuredBackends &&
        hasHealthCheck === before?.hasHealthCheck &&
        certificates === before?.certificates;
      return before && isSame ? before : { ...farm, hasHealthCheck, certificates, backends, configuredBackends };
    });
    return keptList(current?.farms, next);
  }

  function describeCertificates(
    { certificateStore: store, farmsLeftOut }: DatedFindings,
    farms: readonly FarmStatus[] | undefined,
  ): readonly CertificateStatus[] | undefined {
    const areFarmsSame =
      farms === current?.farms ||
      (farms?.length === current?.farms?.length &&
        farms?.every((farm, index) => presentsTheSame(farm, current?.farms?.[index])) === true);
    if (store === told.certificateStore && farmsLeftOut === told.farmsLeftOut && areFarmsSame)
      return current?.certificates;
    return store && keptRows(current?.certificates, withUsers(store, farms, farmsLeftOut));
  }

  function describeCollectors(): readonly CollectorStatus[] {
    if (current && !isBehind && shelf.withholding === withholding) return current.collectors;
    return keptRows(current?.collectors, [...jobs.values()].map(describeCollector));
  }

  function describeCollector(job: Job): CollectorStatus {
    const collector = job.collector.name;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = ledger.state.entries.get(collector) ?? {};
    const isThere = isSupported(collector);
    return {
      name: collector,
      ok,
      lastSuccessMs: lastSuccessMs === undefined ? undefined : Math.round(lastSuccessMs),
      intervalMs,
      isStale: shelf.withholding.has(collector),
      isSupported: isThere,
      failure: isThere ? (failures.trouble(collector) ?? job.heldUp) : undefined,
    };
  }

  return {
    changed() {
      isBehind = true;
    },
    describe() {
      const ageMs = parts.age();
      display.withhold(jobs, ageMs);
      const up = display.isUp(ageMs);
      const isCurrent = !isBehind && shelf.version === version;
      if (current && isCurrent && current.up === up && current.breaker === breakerState()) return current;
      current = kept(current, describeAnew(up));
      version = shelf.version;
      withholding = shelf.withholding;
      isBehind = false;
      return current;
    },
  };
}

/**
 * True for an empty list that does not mean that there are no backends: the farm was stopped since it was read, or the
 * configuration names some (some releases list none while the control socket of the proxy does not answer).
 */
function isEmptyWithoutMeaning(
  state: string,
  listed: readonly unknown[],
  configured: readonly unknown[] = [],
): boolean {
  return listed.length === 0 && (state === 'down' || configured.length > 0);
}

interface Gathered {
  readonly whole: DatedFindings;
  readonly ofFarms: ReadonlyMap<string, DatedFindings>;
  /** Series that give way to the limit. */
  readonly leftOut: number;
}

/** Puts together what each farm's readings say, and what those of the whole appliance say. */
function gather(readings: Iterable<Pick<HeldReading, 'farm' | 'found' | 'leftOut'>>): Gathered {
  const whole: DatedFindings = {};
  const ofFarms = new Map<string, DatedFindings>();
  let leftOut = 0;
  for (const { farm, found, leftOut: ofReading } of readings) {
    leftOut += ofReading;
    for (const { findings } of found) {
      if (farm === undefined) {
        Object.assign(whole, findings);
        continue;
      }
      const before = ofFarms.get(farm);
      ofFarms.set(farm, before ? { ...before, ...findings } : findings);
    }
  }
  return { whole, ofFarms, leftOut };
}
