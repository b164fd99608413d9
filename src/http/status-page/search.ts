import { createTimeSlice } from '../../lib/time-slice.ts';
import type {
  ApplianceStatus,
  BackendName,
  BackendStatus,
  CertificateStatus,
  FarmStatus,
} from '../../monitor/status.ts';
import type { CertificateOnPage } from './certificate-table.ts';
import { severityOf, wordOf } from './severity.ts';
import type { ApplianceHealth, HealthSummary } from './health-summary.ts';

/** The result of a search: the first hits of each kind, and their total number. */
export interface SearchResult {
  readonly appliances: Hits<ApplianceHealth>;
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

/** Maximum time in one tick of the event loop. */
const sliceMs = 5;

/**
 * Searches names, addresses, files and states for all words of `text`, ignoring case. There is no
 * index: fifty thousand backends take a few milliseconds, and it would change with every reading.
 */
export async function search(
  { perAppliance, takenAtMs }: Pick<HealthSummary, 'perAppliance' | 'takenAtMs'>,
  text: string,
  maxHits: number,
): Promise<SearchResult> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has: Has = (states, ...texts) => {
    const haystack = texts.join('\n').toLowerCase();
    return words.every((word) => haystack.includes(word) || states.includes(word));
  };
  const appliances = collect<ApplianceHealth>(maxHits);
  const farms = collect<FoundFarm>(maxHits);
  const backends = collect<FoundBackend>(maxHits);
  const certificates = collect<CertificateOnPage>(maxHits);
  const slice = createTimeSlice(sliceMs);
  for (const health of perAppliance) {
    const { status } = health;
    const { name: appliance } = status;
    if (isAppliance(status, has)) appliances.add(health);
    for (const farm of status.farms ?? []) {
      if (isFarm(farm, has)) farms.add({ appliance, farm });
      for (const backend of farm.backends ?? (farm.configuredBackends ?? []).map(withoutState))
        if (isBackend(backend, has)) backends.add({ appliance, farm, backend });
      if (slice.isOver) await slice.next();
    }
    for (const certificate of status.certificates ?? [])
      if (isCertificate(certificate, has, takenAtMs)) certificates.add({ appliance, certificate });
  }
  return { appliances, farms, backends, certificates };
}

/** Returns true if each word is in one of the texts, or is a whole word of the states. */
type Has = (states: readonly string[], ...texts: readonly (string | undefined)[]) => boolean;

/**
 * Returns the words of a state as the page shows it; none for a good state, because nobody searches
 * for all that is up.
 */
function wordsOfState(state: string): readonly string[] {
  return severityOf(state) === 'well' ? [] : wordOf(state).split(' ');
}

function isAppliance(status: ApplianceStatus, has: Has): boolean {
  const { name, hostname, labels, version, up, deactivated } = status;
  const states = [...(up === false ? ['down', 'unreachable'] : []), ...(deactivated ? ['deactivated'] : [])];
  return has(states, name, hostname, version, ...Object.values(labels));
}

function isFarm({ name, state, vip, vport }: FarmStatus, has: Has): boolean {
  return has(wordsOfState(state), name, vip && `${vip}:${vport ?? ''}`);
}

function withoutState(configured: BackendName): BackendStatus {
  return { ...configured, state: 'unknown' };
}

function isBackend({ backend, state }: BackendStatus, has: Has): boolean {
  return has(wordsOfState(state), backend);
}

/**
 * Matches `expired` by the date too: an appliance calls an expired certificate invalid if its key
 * does not fit.
 */
function isCertificate(
  { file, commonName, state, notAfterSeconds }: CertificateStatus,
  has: Has,
  nowMs: number,
): boolean {
  const isExpired = notAfterSeconds !== undefined && notAfterSeconds * 1_000 <= nowMs;
  return has([...wordsOfState(state), ...(isExpired ? ['expired'] : [])], file, commonName);
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
