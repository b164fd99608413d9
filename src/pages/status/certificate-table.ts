import { stateLabel } from '../../lib/states.ts';
import { type Level, levelOfState, levelRank } from '../../state/level.ts';
import { stateMarkFor, stateMark } from '../marks.ts';
import { ago, dayMs, isoTime, span } from '../../lib/time.ts';
import { alertThresholds, lifeLeft } from '../../state/alert-thresholds.ts';
import { validityLevel } from '../../state/certificate-problems.ts';
import type { CertificateStatus } from '../../state/status.ts';
import { html, type Markup } from '../html.ts';
import { applianceLink, farmLinks, table } from './section.ts';
import { linkTo } from './view.ts';
import type { ApplianceHealth } from '../../state/health.ts';

export interface CertificateOnPage {
  readonly appliance: string;
  readonly certificate: CertificateStatus;
}

/** Returns all certificates except requests: unreadable ones first, then by their end. */
export function sortedCertificates(appliances: readonly ApplianceHealth[]): readonly CertificateOnPage[] {
  return appliances
    .flatMap(({ status }) =>
      (status.certificates ?? []).map((certificate) => ({ appliance: status.name, certificate })),
    )
    .filter(({ certificate }) => certificate.kind === 'certificate')
    .toSorted((one, other) => expirySeconds(one) - expirySeconds(other));
}

function expirySeconds({ certificate: { isUnreadable, notAfterSeconds = 0 } }: CertificateOnPage): number {
  return isUnreadable ? 0 : notAfterSeconds;
}

const { expirySoonSeconds, expirySoonRatio, expiryImminentSeconds, expiryImminentRatio } = alertThresholds;
const days = (seconds: number): number => seconds / 86_400;
const percent = (ratio: number): string => `${ratio * 100} %`;
const meanings = [
  [
    'critical',
    'Red',
    `a farm uses it, and it has ended or has under ${days(expiryImminentSeconds)} days and ${percent(expiryImminentRatio)} of its life left`,
  ],
  ['warning', 'Amber', `under ${days(expirySoonSeconds)} days and ${percent(expirySoonRatio)} are left`],
  ['unknown', 'Grey', 'the same, but it is not known whether a farm uses it'],
  ['well', 'Green', 'more is left'],
] as const;

/** The bar of a certificate with an unknown beginning is full at this time left. */
const barSeconds = 90 * 86_400;

export function certificateTable(certificates: readonly CertificateOnPage[], nowMs: number): Markup {
  return html`${table('certificates', ['Certificate', 'Days left'], certificates, (each) => certificateRow(each, nowMs))}
<p class="note">A bar is what is left of the life of a certificate:</p>
<ul class="note legend">${meanings.map(([level, colour, words]) => html`<li>${bar(1, level)}<b>${colour}:</b> ${words}</li>`)}</ul>
<p class="note">Pale: no farm uses it. It is green up to its last ${days(expiryImminentSeconds)} days, then amber.</p>`;
}

function certificateRow({ appliance, certificate }: CertificateOnPage, nowMs: number): Markup {
  const { file, issuer, usedBy, servedBy = [], notServedBy = [] } = certificate;
  return html`<tr data-key="${`${appliance} ${file}`}" class="${usedBy?.length === 0 ? 'unused' : 'used'}">
<th scope="row"><a href="${linkTo({ kind: 'certificate', appliance, certificate: file })}"><bdi title="${isName(issuer) ? `issued by ${issuer}` : ''}">${nameOf(certificate)}</bdi></a> <small><bdi>${file}</bdi> · ${applianceLink(appliance)} · <span class="users">${usersText(appliance, certificate, nowMs)}</span>${servedBy.length > 0 && html` · seen served by ${farmLinks(appliance, servedBy)}`}${notServedBy.length > 0 && html` · ${stateMark('warning', 'not served yet')} by ${farmLinks(appliance, notServedBy)}`}</small></th>
<td data-label="Days left">${daysLeft(certificate, nowMs)}</td></tr>`;
}

function nameOf({ commonName, file }: CertificateStatus): string {
  return isName(commonName) ? commonName : file;
}

/** Returns false for a dash, which an appliance writes instead of an unreadable name. */
function isName(text: string): boolean {
  return text !== '' && text !== '-';
}

function usersText(appliance: string, { usedBy, lastKnownUse }: CertificateStatus, nowMs: number): Markup {
  if (usedBy === undefined)
    return lastKnownUse
      ? html`was used by ${farmLinks(appliance, lastKnownUse.farms)} ${ago(lastKnownUse.readMs, nowMs)}`
      : html`who uses it is not known`;
  return usedBy.length === 0 ? html`not used` : html`used by ${farmLinks(appliance, usedBy)}`;
}

function daysLeft(certificate: CertificateStatus, nowMs: number): Markup {
  const { isUnreadable, notBeforeSeconds, notAfterSeconds, state } = certificate;
  if (isUnreadable || notAfterSeconds === undefined) return stateMark('unknown', 'cannot be read');
  const validity = { notBeforeSeconds, notAfterSeconds };
  const leftMs = notAfterSeconds * 1_000 - nowMs;
  const day = isoTime(notAfterSeconds * 1_000)?.slice(0, 10) ?? '';
  const level = validityLevel(certificate, nowMs);
  const isExpected = state === 'valid' || state === 'about_to_expire' || (state === 'expired' && leftMs <= 0);
  const share = lifeLeft(validity, nowMs) ?? Math.min(1, leftMs / 1_000 / barSeconds);
  return html`<span class="days ${level}">${bar(leftMs <= 0 ? 1 : share, level)}<span><b>${leftMs > 0 ? Math.floor(leftMs / dayMs).toLocaleString('en') : 'expired'}</b> <small>${day}</small></span></span>${!isExpected && html` ${stateMark(levelOfState('certificate', state), stateLabel(state))}`}`;
}

/** Draws the share of its life that is left. SVG, because the content security policy forbids styles. */
function bar(share: number, level: Level): Markup {
  return html`<svg class="bar ${level}" aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none"><rect class="track" width="100" height="8" rx="2"/><rect width="${Math.ceil(share * 100)}" height="8" rx="2"/></svg>`;
}

/** Sorts by activation: not activated first, then by end. */
export function sortedActivations(appliances: readonly ApplianceHealth[]): readonly ApplianceHealth[] {
  return appliances.toSorted(
    (one, other) =>
      levelRank(levelOfState('activation', activationStatus(one))) -
        levelRank(levelOfState('activation', activationStatus(other))) || activationEnd(one) - activationEnd(other),
  );
}

export function activationTable(appliances: readonly ApplianceHealth[], nowMs: number): Markup {
  return table('activations', ['Appliance', 'Activation', 'Ends'], appliances, (health) =>
    activationRow(health, nowMs),
  );
}

function activationStatus({ status: { activation, deactivated } }: ApplianceHealth): string {
  return deactivated ? 'deactivated' : (activation?.status ?? 'unknown');
}

function activationEnd({ status }: ApplianceHealth): number {
  return status.activation?.notAfterSeconds ?? Number.POSITIVE_INFINITY;
}

function activationRow(health: ApplianceHealth, nowMs: number): Markup {
  const { name, activation, edition } = health.status;
  const state = activationStatus(health);
  return html`<tr data-key="${name}"><th scope="row">${applianceLink(name)}</th>
<td data-label="Activation">${state === 'not_applicable' ? html`<span class="faint">not needed (${edition || 'this edition'})</span>` : stateMarkFor(health.status)(levelOfState('activation', state), stateLabel(state))}${activation?.kind !== undefined && html` <small>${kindWords[activation.kind] ?? activation.kind}</small>`}</td>
<td data-label="Ends">${endText(activation?.notAfterSeconds, state, nowMs)}</td></tr>`;
}

/** The words of the API that are not English. */
const kindWords: Readonly<Record<string, string>> = { temporal: 'temporary' };

function endText(seconds: number | undefined, state: string, nowMs: number): Markup {
  if (seconds === undefined)
    return html`<span class="faint">${state === 'not_applicable' ? 'never' : 'not known'}</span>`;
  const leftMs = seconds * 1_000 - nowMs;
  return html`${leftMs > 0 ? `in ${span(leftMs)}` : `${span(-leftMs)} ago`} <small>${isoTime(seconds * 1_000)?.slice(0, 10)}</small>`;
}
