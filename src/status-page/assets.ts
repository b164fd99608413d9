import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { markupText } from './html.ts';
import { severityIcons, type Severity } from './severity.ts';

/** A file that a page loads. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const script = 'text/javascript; charset=utf-8';
const files = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': script,
  'match.js': script,
  'times.js': script,
} as const;

const iconColours: Readonly<Record<Severity, string>> = {
  critical: '#d13438',
  warning: '#e3a008',
  unknown: '#7a8794',
  paused: '#4a86c5',
  well: '#2c9a5f',
};

/** Reads the assets from the folder beside this file; the build copies it. */
export function loadAssets(): readonly Asset[] {
  const read = Object.entries(files).map(([name, type]) => ({
    path: `/assets/${name}`,
    type,
    bytes: readFileSync(new URL(`assets/${name}`, import.meta.url)),
  }));
  const icons = Object.entries(iconColours).map(([level, colour]) => ({
    path: `/assets/${level}.svg`,
    type: 'image/svg+xml',
    bytes: Buffer.from(icon(level, colour)),
  }));
  return [...read, ...icons];
}

/**
 * Returns the runbooks of docs/operations.md as HTML with gaps for the labels of an alert. The
 * build writes them beside the assets; a clone renders them itself.
 */
export async function loadRunbooks(): Promise<string> {
  const built = new URL('assets/runbooks.html', import.meta.url);
  if (existsSync(built)) return await readFile(built, 'utf8');
  const { renderRunbooks } = await import('./render-runbooks.ts');
  return renderRunbooks(await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8'));
}

/** Returns a digest that differs if any asset differs. */
export function digestOf(assets: readonly Asset[]): string {
  const hash = createHash('sha256');
  for (const { bytes } of assets) hash.update(bytes);
  return hash.digest('base64url').slice(0, 12);
}

/** Returns a sign as a separate picture. */
function icon(level: string, colour: string): string {
  const shapes =
    new RegExp(`<symbol id="icon-${level}" [^>]*>(.*?)</symbol>`, 's').exec(markupText(severityIcons))?.[1] ?? '';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="${colour}"><style>.inner,.mark,.ring{fill:none;stroke:#fff;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}.mark,.ring{stroke:${colour}}</style>${shapes}</svg>`;
}
