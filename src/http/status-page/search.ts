import { createSlice } from '../../lib/slice.ts';
import type {
  ApplianceStatus,
  BackendName,
  BackendStatus,
  CertificateStatus,
  FarmStatus,
} from '../../monitor/status.ts';
import type { CertificateOnPage } from './certificate-table.ts';
import type { Finding } from './survey.ts';

/** What a search found; of each kind the first so many, and how many there are. */
export interface Found {
  readonly appliances: Hits<Finding>;
  readonly farms: Hits<FoundFarm>;
  readonly backends: Hits<FoundBackend>;
  readonly certificates: Hits<CertificateOnPage>;
}

export interface Hits<Hit> {
  readonly shown: readonly Hit[];
  readonly count: number;
}

export interface FoundFarm {
  readonly appliance: string;
  readonly farm: FarmStatus;
}

export interface FoundBackend extends FoundFarm {
  readonly backend: BackendStatus;
}

/** After so long everything else has its turn. */
const sliceMs = 5;

/**
 * Goes through names, addresses and files for all words of `text`, whatever their case. All of it is in memory: fifty
 * thousand backends take a few milliseconds, which no index would be worth that has to follow every reading.
 */
export async function search(findings: readonly Finding[], text: string, most: number): Promise<Found> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...texts: readonly (string | undefined)[]): boolean => {
    const haystack = texts.join('\n').toLowerCase();
    return words.every((word) => haystack.includes(word));
  };
  const appliances = collect<Finding>(most);
  const farms = collect<FoundFarm>(most);
  const backends = collect<FoundBackend>(most);
  const certificates = collect<CertificateOnPage>(most);
  const slice = createSlice(sliceMs);
  for (const finding of findings) {
    const { status } = finding;
    const { name: appliance } = status;
    if (isAppliance(status, has)) appliances.add(finding);
    for (const farm of status.farms ?? []) {
      if (isFarm(farm, has)) farms.add({ appliance, farm });
      for (const backend of farm.backends ?? (farm.configuredBackends ?? []).map(withoutState))
        if (isBackend(backend, has)) backends.add({ appliance, farm, backend });
      if (slice.isOver) await slice.next();
    }
    for (const certificate of status.certificates ?? [])
      if (isCertificate(certificate, has)) certificates.add({ appliance, certificate });
  }
  return { appliances, farms, backends, certificates };
}

type Has = (...texts: readonly (string | undefined)[]) => boolean;

function isAppliance({ name, hostname, labels, version }: ApplianceStatus, has: Has): boolean {
  return has(name, hostname, version, ...Object.values(labels));
}

function isFarm({ name, vip, vport }: FarmStatus, has: Has): boolean {
  return has(name, vip && `${vip}:${vport ?? ''}`);
}

function withoutState(configured: BackendName): BackendStatus {
  return { ...configured, state: 'unknown' };
}

function isBackend({ backend }: BackendStatus, has: Has): boolean {
  return has(backend);
}

function isCertificate({ file, commonName }: CertificateStatus, has: Has): boolean {
  return has(file, commonName);
}

interface Collection<Hit> extends Hits<Hit> {
  add(hit: Hit): void;
}

function collect<Hit>(most: number): Collection<Hit> {
  const shown: Hit[] = [];
  let count = 0;
  return {
    shown,
    get count() {
      return count;
    },
    add(hit) {
      count += 1;
      if (shown.length < most) shown.push(hit);
    },
  };
}
