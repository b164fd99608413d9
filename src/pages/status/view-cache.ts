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

interface AskedView {
  /** The same for the same view. */
  readonly key: string;
  /** Aborts when the reader has left. */
  readonly left: AbortSignal;
  readonly render: () => Promise<Rendered>;
}

/**
 * Keeps what was rendered of a summary as long as the summary, so that a hundred viewers cost no
 * more than one. Resolves to undefined if all readers of a view left before its turn.
 */
type ViewCache = (summary: HealthSummary, asked: AskedView) => Promise<Rendering | undefined>;

interface KeptView {
  readonly readers: AbortSignal[];
  readonly rendering: Promise<Rendering | undefined>;
}

/** Maximum of cached views of one summary; anybody may search for anything. */
const maxViews = 32;

const compress = promisify(gzip);

export function createViewCache(): ViewCache {
  const kept = new WeakMap<HealthSummary, Map<string, KeptView>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Renders one view after the other: many at once would block the event loop. */
  function enqueue(render: () => Promise<Rendering | undefined>): Promise<Rendering | undefined> {
    const rendering = last.then(render);
    last = rendering.catch(() => undefined);
    return rendering;
  }

  return (summary, { key, left, render }) => {
    const views = kept.get(summary) ?? new Map<string, KeptView>();
    kept.set(summary, views);
    const known = views.get(key);
    known?.readers.push(left);
    if (known) return known.rendering;
    const readers = [left];
    const rendering = enqueue(async () => {
      if (readers.some(({ aborted }) => !aborted)) return toRendering(await render());
      views.delete(key);
      return undefined;
    });
    views.set(key, { readers, rendering });
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
