import { isoTime, span } from '../lib/time.ts';
import { html, type Markup } from './html.ts';

/** Renders a time in UTC, because the page is cached for all users. Its script converts it. */
export function clockTime(atMs: number): Markup {
  const text = utcTime(atMs) ?? 'at an unknown time';
  return html`<time datetime="${isoTime(atMs)}" data-show="clock" title="${text}">${text}</time>`;
}

/** Renders an age in minutes, so that the page seldom changes. Its script counts the seconds. */
export function age(atMs: number, nowMs: number): Markup {
  return html`<time datetime="${isoTime(atMs)}" data-show="age">${span(nowMs - atMs)}</time>`;
}

/** Returns a time for people, such as `2026-11-25 13:01:12 UTC`. */
export function utcTime(atMs: number): string | undefined {
  return isoTime(atMs)?.replace('T', ' ').replace('Z', ' UTC');
}
