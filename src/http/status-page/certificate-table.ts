import type { CertificateStatus } from '../../monitor/status.ts';
import { imminentMs, soonMs } from './certificate-problems.ts';
import { html, type Markup } from './html.ts';
import { linkTo } from './links.ts';
import { listed } from './listed.ts';
import { severityOf, type Severity, stateMark, wordOf } from './severity.ts';
import type { ApplianceHealth } from './health-summary.ts';
import { isoTime } from './times.ts';

export interface CertificateOnPage {
  readonly appliance: string;
  readonly certificate: CertificateStatus;
}

/**
 * The soonest to end first; what cannot be read before all others, since it may be over already;
 * requests are left out.
 */
export function sortedCertificates(appliances: readonly ApplianceHealth[]): readonly CertificateOnPage[] {
  return appliances
    .flatMap(({ status }) =>
      (status.certificates ?? []).map((certificate) => ({ appliance: status.name, certificate })),
    )
    .filter(({ certificate }) => certificate.kind === 'certificate')
    .toSorted((one, other) => endOf(one) - endOf(other));
}

function endOf({ certificate: { isUnreadable, notAfterSeconds = 0 } }: CertificateOnPage): number {
  return isUnreadable ? 0 : notAfterSeconds;
}

const dayMs = 86_400_000;
/** A bar is full from here on, and once all days are over. */
const barDays = 90;

export function certificateTable(certificates: readonly CertificateOnPage[], nowMs: number): Markup {
  return html`<table class="certificates"><thead><tr><th scope="col">Certificate</th><th scope="col">Days left</th></tr></thead>
<tbody>${certificates.map((each) => row(each, nowMs))}</tbody></table>`;
}

function row({ appliance, certificate }: CertificateOnPage, nowMs: number): Markup {
  const { file, issuer, usedBy } = certificate;
  return html`<tr data-key="${`${appliance} ${file}`}" class="${usedBy?.length === 0 ? 'unused' : 'used'}">
<th scope="row"><bdi title="${isName(issuer) ? `issued by ${issuer}` : ''}">${nameOf(certificate)}</bdi> <small><bdi>${file}</bdi> · <a href="${linkTo({ kind: 'appliance', appliance, page: 1 })}"><bdi>${appliance}</bdi></a> · <span class="users">${users(usedBy)}</span></small></th>
<td data-label="Days left">${daysLeft(certificate, nowMs)}</td></tr>`;
}

function nameOf({ commonName, file }: CertificateStatus): string {
  return isName(commonName) ? commonName : file;
}

/** An appliance writes a dash for what it cannot read. */
function isName(text: string): boolean {
  return text !== '' && text !== '-';
}

function users(usedBy: readonly string[] | undefined): Markup {
  if (usedBy === undefined) return html`who uses it is not known`;
  return usedBy.length === 0 ? html`not used` : html`used by <bdi>${listed(usedBy)}</bdi>`;
}

function daysLeft({ isUnreadable, notAfterSeconds, state }: CertificateStatus, nowMs: number): Markup {
  if (isUnreadable || notAfterSeconds === undefined) return stateMark('unknown', 'cannot be read');
  const leftMs = notAfterSeconds * 1_000 - nowMs;
  const day = isoTime(notAfterSeconds * 1_000)?.slice(0, 10) ?? '';
  const level: Severity = leftMs < imminentMs ? 'critical' : leftMs < soonMs ? 'warning' : 'well';
  const doubt = state === 'valid' || state === 'about_to_expire' || (state === 'expired' && leftMs <= 0);
  return html`<span class="days ${level}">${bar(leftMs, level)}<span><b>${leftMs > 0 ? Math.floor(leftMs / dayMs).toLocaleString('en') : 'expired'}</b> <small>${day}</small></span></span>${!doubt && html` ${stateMark(severityOf(state), wordOf(state))}`}`;
}

/** Drawn as SVG: a style of its own would be forbidden by the content security policy. */
function bar(leftMs: number, level: Severity): Markup {
  const width = leftMs <= 0 ? 100 : Math.ceil(Math.min(1, leftMs / dayMs / barDays) * 100);
  return html`<svg class="bar ${level}" aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none"><rect class="track" width="100" height="8" rx="2"/><rect width="${width}" height="8" rx="2"/></svg>`;
}
