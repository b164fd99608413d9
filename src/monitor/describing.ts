import type { BreakerState } from '../appliance/breaker.ts';
import type { Facts } from '../collectors/collector.ts';
import { kept, keptRows } from '../lib/same.ts';
import type { DatedFindings } from './dated-findings.ts';
import type { Display } from './display.ts';
import type { FailureLog } from './failure-log.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger.ts';
import type { Shelf } from './shelf.ts';
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
  readonly shelf: Pick<Shelf, 'findings' | 'isWithholding' | 'version'>;
  readonly display: Pick<Display, 'withhold' | 'series'>;
  readonly ledger: Pick<Ledger, 'isUp' | 'state'>;
  readonly failures: Pick<FailureLog, 'trouble'>;
  readonly breakerState: () => BreakerState;
  readonly isSupported: (collector: string) => boolean;
  /** See lib/age-clock.ts. */
  readonly age: () => number;
}

export function createDescribing(parts: DescribingParts): Describing {
  const { name, labels, jobs, facts, shelf, display, ledger, failures, breakerState, isSupported, age } = parts;
  let current: ApplianceStatus | undefined;
  /** Of the shelf when `current` was put together. */
  let version = 0;
  let isBehind = true;

  function describeAnew(before: ApplianceStatus | undefined): ApplianceStatus {
    const { whole, ofFarms } = gather(shelf.findings());
    const farms = whole.farms?.map((farm): FarmStatus => {
      const { backends, hasHealthCheck, certificates } = ofFarms.get(farm.name) ?? {};
      return { ...farm, hasHealthCheck, certificates, backends };
    });
    const certificates = withUsers(whole.certificateStore, farms, whole.farmsLeftOut);
    return {
      name,
      labels,
      up: ledger.isUp(age()),
      deactivated: facts.licensed === false,
      version: whole.version,
      edition: whole.edition,
      hostname: whole.hostname,
      breaker: breakerState(),
      farms: farms && keptRows(before?.farms, farms),
      certificates: certificates && keptRows(before?.certificates, certificates),
      activation: whole.activation,
      interfaces: whole.interfaces,
      series: display.series,
      collectors: keptRows(before?.collectors, [...jobs.values()].map(describeCollector)),
    };
  }

  function describeCollector(job: Job): CollectorStatus {
    const collector = job.collector.name;
    const { ok, lastSuccessMs, intervalMs = job.intervalMs } = ledger.state.entries.get(collector) ?? {};
    return {
      name: collector,
      ok,
      lastSuccessMs,
      intervalMs,
      isStale: shelf.isWithholding(collector),
      isSupported: isSupported(collector),
      failure: isSupported(collector) ? (failures.trouble(collector) ?? job.heldUp) : undefined,
    };
  }

  return {
    changed() {
      isBehind = true;
    },
    describe() {
      display.withhold(jobs);
      const isCurrent = !isBehind && shelf.version === version;
      if (current && isCurrent && current.up === ledger.isUp(age()) && current.breaker === breakerState())
        return current;
      isBehind = false;
      version = shelf.version;
      current = kept(current, describeAnew(current));
      return current;
    },
  };
}

interface Gathered {
  readonly whole: DatedFindings;
  readonly ofFarms: ReadonlyMap<string, DatedFindings>;
}

function gather(all: ReturnType<Shelf['findings']>): Gathered {
  const whole: DatedFindings = {};
  const ofFarms = new Map<string, DatedFindings>();
  for (const { farm, findings } of all) {
    const together = farm === undefined ? whole : (ofFarms.get(farm) ?? {});
    Object.assign(together, findings);
    if (farm !== undefined) ofFarms.set(farm, together);
  }
  return { whole, ofFarms };
}

/** Who presents a certificate is known once it is known of every farm: one that was not read may be the one that does. */
function withUsers(
  store: DatedFindings['certificateStore'],
  farms: readonly FarmStatus[] | undefined,
  farmsLeftOut: number | undefined,
): readonly CertificateStatus[] | undefined {
  // A datalink farm presents nothing, and is not asked.
  const isKnown = farmsLeftOut === 0 && farms?.every((farm) => farm.certificates ?? farm.profile === 'datalink');
  const users = new Map<string, string[]>();
  for (const farm of farms ?? []) {
    for (const file of farm.certificates ?? []) {
      const list = users.get(file);
      if (list) list.push(farm.name);
      else users.set(file, [farm.name]);
    }
  }
  return store?.map((each) => ({ ...each, usedBy: isKnown ? (users.get(each.file) ?? []) : undefined }));
}
