import { type StatefulKind, stateLabel } from '../../lib/states.ts';
import { levelOfState } from '../../state/level.ts';
import { stateMarkFor } from '../marks.ts';
import { plural } from '../../lib/text.ts';
import { createTimeSlice } from '../../lib/time.ts';
import type { ApplianceStatus, BackendName, BackendStatus, CertificateStatus, FarmStatus } from '../../state/status.ts';
import { type CertificateOnPage, certificateTable } from './certificate-table.ts';
import type { ApplianceHealth, HealthSummary } from '../../state/health.ts';
import { applianceTable } from './appliance-table.ts';
import { farmDetails, sortedFarms } from './farm-details.ts';
import { html, type Markup } from '../html.ts';
import { linkTo } from './view.ts';
import { applianceLink, backTo, emptyNote, panel, table } from './section.ts';

/** All hits of a search, by kind. */
interface SearchResult {
  readonly appliances: readonly ApplianceHealth[];
  readonly farms: readonly FoundFarm[];
  readonly backends: readonly FoundBackend[];
  readonly certificates: readonly CertificateOnPage[];
}

interface FoundFarm {
  readonly health: ApplianceHealth;
  readonly farm: FarmStatus;
}

interface FoundBackend extends FoundFarm {
  readonly backend: BackendStatus;
}

/** Maximum time in one tick of the event loop. */
const sliceMs = 5;

/**
 * Searches names, addresses, files and states for all words of `text`, ignoring case. It needs no
 * index: fifty thousand backends take a few milliseconds.
 */
export async function search(
  { perAppliance, takenAtMs }: Pick<HealthSummary, 'perAppliance' | 'takenAtMs'>,
  text: string,
): Promise<SearchResult> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches: MatchesWords = (states, ...texts) => {
    const haystack = texts.join('\n').toLowerCase();
    return words.every((word) => haystack.includes(word) || states.includes(word));
  };
  const appliances: ApplianceHealth[] = [];
  const farms: FoundFarm[] = [];
  const backends: FoundBackend[] = [];
  const certificates: CertificateOnPage[] = [];
  const slice = createTimeSlice(sliceMs);
  for (const health of perAppliance) {
    const { status } = health;
    if (matchesAppliance(status, matches)) appliances.push(health);
    for (const farm of status.farms ?? []) {
      if (matchesFarm(farm, matches)) farms.push({ health, farm });
      for (const backend of farm.backends ?? (farm.configuredBackends ?? []).map(withoutState))
        if (matchesBackend(backend, matches)) backends.push({ health, farm, backend });
      if (slice.isOver) await slice.next();
    }
    for (const certificate of status.certificates ?? [])
      if (matchesCertificate(certificate, matches, takenAtMs))
        certificates.push({ appliance: status.name, certificate });
  }
  return { appliances, farms, backends, certificates };
}

/** Returns true if each word of a search is in one of the texts, or is one of the states. */
type MatchesWords = (states: readonly string[], ...texts: readonly (string | undefined)[]) => boolean;

/** Returns the words of a state as the page shows it; none for a good state, which nobody searches. */
function wordsOfState(object: StatefulKind, state: string): readonly string[] {
  return levelOfState(object, state) === 'well' ? [] : stateLabel(state).split(' ');
}

function matchesAppliance(status: ApplianceStatus, matches: MatchesWords): boolean {
  const { name, url, hostname, labels, product, version, up, deactivated } = status;
  const states = [...(up === false ? ['down', 'unreachable'] : []), ...(deactivated ? ['deactivated'] : [])];
  return matches(states, name, new URL(url).host, hostname, product, version, ...Object.values(labels));
}

function matchesFarm({ name, state, vip, vport }: FarmStatus, matches: MatchesWords): boolean {
  return matches(wordsOfState('farm', state), name, vip && `${vip}:${vport ?? ''}`);
}

function withoutState(configured: BackendName): BackendStatus {
  return { ...configured, state: 'unknown' };
}

function matchesBackend({ backend, state }: BackendStatus, matches: MatchesWords): boolean {
  return matches(wordsOfState('backend', state), backend);
}

/** Also matches `expired` by the date, because an expired certificate may be in the state invalid. */
function matchesCertificate(
  { file, commonName, state, notAfterSeconds }: CertificateStatus,
  matches: MatchesWords,
  nowMs: number,
): boolean {
  const isExpired = notAfterSeconds !== undefined && notAfterSeconds * 1_000 <= nowMs;
  return matches([...wordsOfState('certificate', state), ...(isExpired ? ['expired'] : [])], file, commonName);
}

/** The most hits of a kind that are shown. */
export const maxHits = 50;
const maxBackends = 8;

export function searchPage(text: string, found: SearchResult, summary: HealthSummary): Markup {
  const nowMs = summary.takenAtMs;
  const { appliances, farms, backends, certificates } = found;
  const count = appliances.length + farms.length + backends.length + certificates.length;
  return html`${backTo()}
<h1 class="found" id="overall-status" aria-live="polite" aria-atomic="true">${count === 0 ? 'Nothing' : plural(count, 'match', 'matches')} for “<bdi>${text}</bdi>”</h1>
${count === 0 && emptyNote('A search goes through the names of appliances and farms, addresses of farms and backends, files and names of certificates, and states such as down, critical or expired, as they are known now.')}
${hitsPanel('appliances', 'Appliances', appliances, (hits) => applianceTable(hits, nowMs))}
${hitsPanel(
  'farms',
  'Farms',
  farms,
  (hits) =>
    html`${[...Map.groupBy(hits, ({ health }) => health)].map(([health, ofIt]) => {
      const { name: appliance } = health.status;
      const found = sortedFarms(
        health,
        ofIt.map(({ farm }) => farm),
      );
      return html`<h3>${applianceLink(appliance)}</h3>
${farmDetails(found, summary, maxBackends)}`;
    })}`,
)}
${hitsPanel('backends', 'Backends', backends, foundBackendTable)}
${hitsPanel('certificates', 'Certificates', certificates, (hits) => certificateTable(hits, nowMs))}`;
}

function hitsPanel<Hit>(
  id: string,
  heading: string,
  hits: readonly Hit[],
  content: (hits: readonly Hit[]) => Markup,
): Markup | false {
  if (hits.length === 0) return false;
  const rest = hits.length - maxHits;
  return panel(id, html`${heading} <small>${hits.length.toLocaleString('en')}</small>`, [
    content(hits.slice(0, maxHits)),
    rest > 0 &&
      html`<p class="more faint">and ${rest.toLocaleString('en')} more; search for more of the name to find them</p>`,
  ]);
}

function foundBackendTable(hits: readonly FoundBackend[]): Markup {
  return table('backends', ['Backend', 'State', 'Farm', 'Appliance'], hits, backendRow);
}

function backendRow({ health, farm: { name: farm }, backend: { backend, service, state } }: FoundBackend): Markup {
  const { name: appliance } = health.status;
  return html`<tr data-key="${`${appliance} ${farm} ${service} ${backend}`}"><th scope="row"><bdi>${backend}</bdi></th>
<td data-label="State">${stateMarkFor(health.status)(levelOfState('backend', state), stateLabel(state))}</td>
<td data-label="Farm"><a href="${linkTo({ kind: 'farm', appliance, farm })}"><bdi>${farm}</bdi></a>${service !== '' && html` <small><bdi>${service}</bdi></small>`}</td>
<td data-label="Appliance">${applianceLink(appliance)}</td></tr>`;
}
