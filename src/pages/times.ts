import { span } from '../lib/time.ts';
import { html, type Markup } from './html.ts';

/**
 * Renders a time in UTC, because a page is cached for all users; its script converts it to the
 * user's zone.
 */
export function clockTime(atMs: number): Markup {
  const text = utcTime(atMs) ?? 'at an unknown time';
  return html`<time datetime="${isoTime(atMs)}" data-show="clock" title="${text}">${text}</time>`;
}

/**
 * Renders an age in minutes, so that a page without events stays the same. Its script counts the
 * seconds.
 */
export function age(atMs: number, nowMs: number): Markup {
  return html`<time datetime="${isoTime(atMs)}" data-show="age">${span(nowMs - atMs)}</time>`;
}

/** Dates of an appliance may be beyond what a Date can say. */
export function isoTime(atMs: number): string | undefined {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(0, 19)}Z`;
}

/** Returns a time for people, such as `2026-11-25 13:01:12 UTC`. */
export function utcTime(atMs: number): string | undefined {
  return isoTime(atMs)?.replace('T', ' ').replace('Z', ' UTC');
}
