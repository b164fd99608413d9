import type { ServerResponse } from 'node:http';

/**
 * Returns `request` of node:https or node:http. An import of these reads each of their exports, also
 * the lazy WebSocket, with which Node.js 24.21 loads all of its undici: 12 MB, and more time than a
 * response of the exporter takes.
 */
export function httpRequestOf(protocol: string) {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http').request;
}

/** Returns a signal that aborts when a response is over: its reader has all of it, or has left. */
export function closedSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once('close', () => closed.abort());
  return closed.signal;
}

/** A member of an Accept or Accept-Encoding header (RFC 9110 section 12.5). */
export interface AcceptRange {
  readonly type: string;
  readonly version: string | undefined;
  /** The weight from 0, which excludes it, to 1. */
  readonly quality: number;
}

export function parseAccept(header: string | undefined): readonly AcceptRange[] {
  return (header ?? '').split(',').map(parseRange);
}

/** Returns true if the Accept-Encoding header names gzip with a weight above 0. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return weightOfCoding(acceptEncoding, 'gzip') > 0;
}

/** Returns the weight of a coding that the Accept-Encoding header names; 0 without it. */
export function weightOfCoding(acceptEncoding: string | undefined, coding: string): number {
  return weightOf(parseAccept(acceptEncoding), ({ type }) => type === coding);
}

/** Returns the highest weight of the members that match; 0 without any. */
export function weightOf(ranges: readonly AcceptRange[], matches: (range: AcceptRange) => boolean): number {
  return Math.max(0, ...ranges.filter(matches).map(({ quality }) => quality));
}

function parseRange(text: string): AcceptRange {
  const [type = '', ...pairs] = text.split(';').map((part) => part.trim().toLowerCase());
  const parameters = new Map(pairs.map((pair) => pair.split('=', 2) as [string, string]));
  const quality = Number(parameters.get('q') ?? 1);
  return { type, version: parameters.get('version'), quality: Number.isFinite(quality) ? quality : 0 };
}
