import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HealthSummary } from '../../state/health.ts';

/** A rendered page, ready to be sent. */
export interface Rendering {
  readonly status: number;
  /**
   * Depends on the content only, not on the time of rendering. Weak: the compressed bytes have the
   * same one.
   */
  readonly etag: string;
  readonly bytes: Buffer;
  /** Compresses at most once. */
  compressed(): Promise<Buffer>;
}

export interface Rendered {
  readonly status: number;
  readonly text: string;
  /** The text whose digest becomes the etag. */
  readonly etagInput: string;
}

/**
 * Keeps what was rendered of a summary as long as the summary, so that a hundred viewers cost no
 * more than one.
 */
type ViewCache = (summary: HealthSummary, key: string, render: () => Promise<Rendered>) => Promise<Rendering>;

/** Maximum of cached views of one summary; anybody may search for anything. */
const maxViews = 32;

const compress = promisify(gzip);

export function createViewCache(): ViewCache {
  const kept = new WeakMap<HealthSummary, Map<string, Promise<Rendering>>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Renders one view after the other: many at once would block the event loop. */
  function enqueue(render: () => Promise<Rendered>): Promise<Rendering> {
    const rendering = last.then(render).then(toRendering);
    last = rendering.catch(() => undefined);
    return rendering;
  }

  return (summary, key, render) => {
    const views = kept.get(summary) ?? new Map<string, Promise<Rendering>>();
    kept.set(summary, views);
    const known = views.get(key);
    if (known) return known;
    const rendering = enqueue(render);
    views.set(key, rendering);
    const [oldest] = views.keys();
    if (views.size > maxViews && oldest !== undefined) views.delete(oldest);
    return rendering;
  };
}

function toRendering({ status, text, etagInput }: Rendered): Rendering {
  const bytes = Buffer.from(text);
  let compressed: Promise<Buffer> | undefined;
  return {
    status,
    etag: `W/"${createHash('sha256').update(etagInput).digest('base64url').slice(0, 22)}"`,
    bytes,
    compressed: () => (compressed ??= compress(bytes, { level: 4 })),
  };
}
