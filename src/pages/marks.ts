import { allLevels, type Level } from '../state/level.ts';
import { isAnswering } from '../state/freshness.ts';
import type { ApplianceStatus } from '../state/status.ts';
import { html, type Markup } from './html.ts';

/** Renders an icon with a shape, not only a colour. Screen readers get the word next to it. */
export function levelIcon(level: Level): Markup {
  return html`<svg class="icon" aria-hidden="true"><use href="#icon-${level}"></use></svg>`;
}

export function stateMark(level: Level, word: string): Markup {
  return html`<span class="state ${level}">${levelIcon(level)}${word}</span>`;
}

/**
 * Returns a function that renders states of an appliance's objects. While the appliance does not
 * answer, a good state becomes unknown.
 */
export function stateMarkFor(status: Pick<ApplianceStatus, 'up'>): typeof stateMark {
  return (level, word) => stateMark(isAnswering(status) || level !== 'well' ? level : 'unknown', word);
}

export const levelShapes: Readonly<Record<Level, Markup>> = {
  critical: html`<path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z"/><path class="inner" d="M5.3 5.3l5.4 5.4m0-5.4l-5.4 5.4"/>`,
  warning: html`<path d="M8 1l7.4 13.6H.6z"/><path class="inner" d="M8 6v4m0 1.6v.8"/>`,
  unknown: html`<circle class="ring" cx="8" cy="8" r="6.4"/><path class="mark" d="M6.1 6.4a1.95 1.95 0 1 1 2.7 1.8c-.5.25-.8.6-.8 1.1v.3m0 1.9v.3"/>`,
  paused: html`<rect x="1" y="1" width="14" height="14" rx="3"/><path class="inner" d="M6 5v6m4-6v6"/>`,
  well: html`<circle cx="8" cy="8" r="7.2"/><path class="inner" d="M4.8 8.3l2.3 2.3 4.2-4.8"/>`,
};

/** The shapes that {@link levelIcon} uses; once on each page. */
export const levelIcons: Markup = html`<svg class="shapes" aria-hidden="true" focusable="false">
${allLevels.map((level) => html`<symbol id="icon-${level}" viewBox="0 0 16 16">${levelShapes[level]}</symbol>\n`)}</svg>`;
