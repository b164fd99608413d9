import { createSlice } from '../../lib/slice.ts';
import type {
  ApplianceStatus,
  BackendName,
  BackendStatus,
  CertificateStatus,
  FarmStatus,
} from '../../monitor/status.ts';
import type { CertificateOnPage } from './certificate-table.ts';
import { levelOf, wordOf } from './sign.ts';
import type { Finding, Survey } from './survey.ts';

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
 * Goes through names, addresses, files and states for all words of `text`, whatever their case. All of it is in memory: fifty
 * thousand backends take a few milliseconds, which no index would be worth that has to follow every reading.
 */
export async function search(
  { findings, takenAtMs }: Pick<Survey, 'findings' | 'takenAtMs'>,
  text: string,
  most: number,
): Promise<Found> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has: Has = (states, ...texts) => {
    const haystack = texts.join('\n').toLowerCase();
    return words.every((word) => haystack.includes(word) || states.includes(word));
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
      if (isCertificate(certificate, has, takenAtMs)) certificates.add({ appliance, certificate });
  }
  return { appliances, farms, backends, certificates };
}

/** True where each word is in one of the texts, or is a whole word of the states. */
type Has = (states: readonly string[], ...texts: readonly (string | undefined)[]) => boolean;

/** The words of a state as the page shows it; of what is well none, since nobody searches for all that is up. */
function wordsOfState(state: string): readonly string[] {
  return levelOf(state) === 'well' ? [] : wordOf(state).split(' ');
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

/** Expired by its date as well: the appliance calls an expired certificate invalid where its key does not fit. */
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
