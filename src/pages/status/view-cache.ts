import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HealthSummary } from '../../state/health.ts';

/** A rendered page as bytes, ready to be sent. */
export interface PageResponse {
  readonly status: number;
  /** Depends only on the content, not on the time. Weak, because compressed and plain bytes share it. */
  readonly etag: string;
  readonly bytes: Buffer;
  /** Compresses at most once. */
  gzipped(): Promise<Buffer>;
}

export interface RenderedPage {
  readonly status: number;
  readonly text: string;
  /** The text whose digest is the etag. */
  readonly etagInput: string;
}

interface ViewRequest {
  /** Identifies the view. */
  readonly key: string;
  /** Aborts when the client disconnects. */
  readonly closed: AbortSignal;
  readonly render: () => Promise<RenderedPage>;
}

/**
 * Returns the page of a view, which is rendered once for each summary, however many clients there
 * are. Resolves to undefined if all clients of a view disconnected before its turn.
 */
type ViewCache = (summary: HealthSummary, request: ViewRequest) => Promise<PageResponse | undefined>;

interface CachedView {
  readonly clients: AbortSignal[];
  readonly page: Promise<PageResponse | undefined>;
}

/** The most cached views of a summary: anybody may search for anything. */
const maxViews = 32;

const compress = promisify(gzip);

export function createViewCache(): ViewCache {
  const cache = new WeakMap<HealthSummary, Map<string, CachedView>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Renders one view after another: many at once would block the event loop. */
  function enqueue(render: () => Promise<PageResponse | undefined>): Promise<PageResponse | undefined> {
    const page = last.then(render);
    last = page.catch(() => undefined);
    return page;
  }

  return (summary, { key, closed, render }) => {
    const views = cache.get(summary) ?? new Map<string, CachedView>();
    cache.set(summary, views);
    const cached = views.get(key);
    cached?.clients.push(closed);
    if (cached) return cached.page;
    const clients = [closed];
    const page = enqueue(async () => {
      if (clients.some(({ aborted }) => !aborted)) return toPageResponse(await render());
      views.delete(key);
      return undefined;
    });
    views.set(key, { clients, page });
    const [oldest] = views.keys();
    if (views.size > maxViews && oldest !== undefined) views.delete(oldest);
    return page;
  };
}

function toPageResponse({ status, text, etagInput }: RenderedPage): PageResponse {
  const bytes = Buffer.from(text);
  let compressed: Promise<Buffer> | undefined;
  return {
    status,
    etag: `W/"${createHash('sha256').update(etagInput).digest('base64url').slice(0, 22)}"`,
    bytes,
    gzipped: () => (compressed ??= compress(bytes, { level: 4 })),
  };
}
