import { applianceTable } from './appliance-table.ts';
import { certificateTable } from './certificate-table.ts';
import { sortedFarms, farmList } from './farm-list.ts';
import { html, type Markup } from './html.ts';
import { linkTo } from './links.ts';
import { countOf } from './listed.ts';
import type { SearchResult, FoundBackend, Hits } from './search.ts';
import { emptyNote, panel } from './section.ts';
import { severityOf, stateMark, wordOf } from './severity.ts';

const maxBackends = 8;

/** Renders the result of a search by kind. */
export function searchContent(text: string, found: SearchResult, nowMs: number): Markup {
  const { appliances, farms, backends, certificates } = found;
  const count = appliances.count + farms.count + backends.count + certificates.count;
  return html`<p class="back"><a href="./">All appliances</a></p>
<h1 class="found" id="overall-status" aria-live="polite" aria-atomic="true">${count === 0 ? 'Nothing' : countOf(count, 'match', 'matches')} for “<bdi>${text}</bdi>”</h1>
${count === 0 && emptyNote('A search goes through the names of appliances and farms, addresses of farms and backends, files and names of certificates, and states such as down, critical or expired, as they are known now.')}
${group('appliances', 'Appliances', appliances, (hits) => applianceTable(hits, nowMs))}
${group(
  'farms',
  'Farms',
  farms,
  (hits) =>
    html`${[...Map.groupBy(hits, ({ appliance }) => appliance)].map(
      ([
        appliance,
        ofIt,
      ]) => html`<h3><a href="${linkTo({ kind: 'appliance', appliance, page: 1 })}"><bdi>${appliance}</bdi></a></h3>
${farmList(
  sortedFarms(
    appliance,
    ofIt.map(({ farm }) => farm),
  ),
  nowMs,
  maxBackends,
)}`,
    )}`,
)}
${group('backends', 'Backends', backends, backendTable)}
${group('certificates', 'Certificates', certificates, (hits) => certificateTable(hits, nowMs))}`;
}

function group<Hit>(
  id: string,
  heading: string,
  { shown, count }: Hits<Hit>,
  content: (hits: readonly Hit[]) => Markup,
): Markup | false {
  if (count === 0) return false;
  const rest = count - shown.length;
  return panel(id, html`${heading} <small>${count.toLocaleString('en')}</small>`, [
    content(shown),
    rest > 0 &&
      html`<p class="more faint">and ${rest.toLocaleString('en')} more; search for more of the name to find them</p>`,
  ]);
}

function backendTable(hits: readonly FoundBackend[]): Markup {
  return html`<table class="backends"><thead><tr><th scope="col">Backend</th><th scope="col">State</th><th scope="col">Farm</th><th scope="col">Appliance</th></tr></thead>
<tbody>${hits.map(
    ({
      appliance,
      farm,
      backend: { backend, service, state },
    }) => html`<tr data-key="${`${appliance} ${farm.name} ${service} ${backend}`}"><th scope="row"><bdi>${backend}</bdi></th>
<td data-label="State">${stateMark(severityOf(state), wordOf(state))}</td>
<td data-label="Farm"><a href="${linkTo({ kind: 'farm', appliance, farm: farm.name })}"><bdi>${farm.name}</bdi></a>${service !== '' && html` <small><bdi>${service}</bdi></small>`}</td>
<td data-label="Appliance"><a href="${linkTo({ kind: 'appliance', appliance, page: 1 })}"><bdi>${appliance}</bdi></a></td></tr>`,
  )}</tbody></table>`;
}
