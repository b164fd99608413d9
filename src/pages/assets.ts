import { allLevels, type Level } from '../state/level.ts';
import { levelShapes } from './marks.ts';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { markupText } from './html.ts';

/** A file that a page loads. */
export interface Asset {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const iconColours: Readonly<Record<Level, string>> = {
  critical: '#d13438',
  warning: '#e3a008',
  unknown: '#7a8794',
  paused: '#4a86c5',
  well: '#2c9a5f',
};

/** Reads the styles and scripts of a folder beside a source file; the build copies it. */
export function readAssets(folder: URL): readonly Asset[] {
  return readdirSync(folder).flatMap((name) => {
    const type = types[extname(name)];
    return type === undefined ? [] : { name, type, bytes: readFileSync(new URL(name, folder)) };
  });
}

/** Returns a Content-Security-Policy that allows only our own origin, and no inline scripts or styles. */
export function contentPolicy(formAction: "'self'" | "'none'"): string {
  const fromSelf = ['script-src', 'style-src', 'img-src', 'connect-src'].map((each) => `${each} 'self'`);
  return [
    "default-src 'none'",
    ...fromSelf,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

export function loadAssets(): readonly Asset[] {
  const icons = allLevels.map((level) => ({
    name: `${level}.svg`,
    type: 'image/svg+xml',
    bytes: Buffer.from(icon(level, iconColours[level])),
  }));
  return [...readAssets(new URL('assets/', import.meta.url)), ...icons];
}

/**
 * Returns the runbooks of docs/operations.md as HTML with gaps for the labels of an alert. The
 * build writes them beside the assets; a clone renders them itself.
 */
export async function loadRunbooks(): Promise<string> {
  const built = new URL('assets/runbooks.html', import.meta.url);
  if (existsSync(built)) return await readFile(built, 'utf8');
  const { renderRunbooks } = await import('./runbooks/render-runbooks.ts');
  return renderRunbooks(await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8'));
}

/** Returns a digest that differs if any asset differs. */
export function digestOf(assets: readonly Asset[]): string {
  const hash = createHash('sha256');
  for (const { bytes } of assets) hash.update(bytes);
  return hash.digest('base64url').slice(0, 12);
}

/** Returns the SVG file of a level, for the tab of the browser. */
function icon(level: Level, colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="${colour}"><style>.inner,.mark,.ring{fill:none;stroke:#fff;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}.mark,.ring{stroke:${colour}}</style>${markupText(levelShapes[level])}</svg>`;
}
