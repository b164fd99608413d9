import { html, type Markup } from './html.ts';

/** How good or bad something is; each has a colour, a shape and a word. */
export type Level = 'critical' | 'warning' | 'unknown' | 'paused' | 'well';

const order: readonly Level[] = ['critical', 'warning', 'unknown', 'paused', 'well'];

/** For sorting: the worst first. */
export function badness(level: Level): number {
  return order.indexOf(level);
}

export function worst(levels: Iterable<Level>): Level {
  let found: Level = 'well';
  for (const level of levels) if (badness(level) < badness(found)) found = level;
  return found;
}

/** Shapes as well as colours, for those who see no colours; screen readers get the word that stands beside it. */
export function sign(level: Level): Markup {
  return html`<svg class="sign" aria-hidden="true"><use href="#sign-${level}"></use></svg>`;
}

/** A word with its sign and its colour. */
export function stateMark(level: Level, word: string): Markup {
  return html`<span class="state ${level}">${sign(level)}${word}</span>`;
}

/** The shapes that {@link sign} uses; once on each page. */
export const signs: Markup = html`<svg class="shapes" aria-hidden="true" focusable="false">
<symbol id="sign-critical" viewBox="0 0 16 16"><path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z"/><path class="inner" d="M5.3 5.3l5.4 5.4m0-5.4l-5.4 5.4"/></symbol>
<symbol id="sign-warning" viewBox="0 0 16 16"><path d="M8 1l7.4 13.6H.6z"/><path class="inner" d="M8 6v4m0 1.6v.8"/></symbol>
<symbol id="sign-unknown" viewBox="0 0 16 16"><circle class="ring" cx="8" cy="8" r="6.4"/><path class="mark" d="M6.1 6.4a1.95 1.95 0 1 1 2.7 1.8c-.5.25-.8.6-.8 1.1v.3m0 1.9v.3"/></symbol>
<symbol id="sign-paused" viewBox="0 0 16 16"><rect x="1" y="1" width="14" height="14" rx="3"/><path class="inner" d="M6 5v6m4-6v6"/></symbol>
<symbol id="sign-well" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.2"/><path class="inner" d="M4.8 8.3l2.3 2.3 4.2-4.8"/></symbol>
</svg>`;

/** The levels of the words that an appliance has for its farms, backends, certificates and its activation. */
const levels: Readonly<Record<string, Level>> = {
  up: 'well',
  down: 'critical',
  critical: 'critical',
  needed_restart: 'warning',
  problem: 'warning',
  maintenance: 'paused',
  valid: 'well',
  about_to_expire: 'warning',
  expired: 'critical',
  invalid: 'critical',
  activated: 'well',
  not_applicable: 'well',
  deactivated: 'critical',
};

export function levelOf(state: string): Level {
  return Object.hasOwn(levels, state) ? (levels[state] ?? 'unknown') : 'unknown';
}

/** `needed_restart` as people write it. */
export function wordOf(state: string): string {
  return state === 'needed_restart' ? 'needs restart' : state.replaceAll('_', ' ');
}
