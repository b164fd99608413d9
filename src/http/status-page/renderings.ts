import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Survey } from './survey.ts';

/** A page as it is sent. */
export interface Rendering {
  readonly status: number;
  /** The same as long as it says the same, whenever it was rendered. */
  readonly tag: string;
  readonly bytes: Buffer;
  /** Compressed at most once. */
  compressed(): Promise<Buffer>;
}

export interface Rendered {
  readonly status: number;
  readonly text: string;
  /** What decides whether it says the same. */
  readonly essence: string;
}

/** Keeps what was rendered of a survey as long as the survey, so that a hundred viewers cost no more than one. */
export interface Renderings {
  readonly get: (survey: Survey, key: string, render: () => Promise<Rendered>) => Promise<Rendering>;
}

/** Views of one survey that are kept at a time; strangers may search for anything. */
const mostKept = 32;

const compress = promisify(gzip);

export function createRenderings(): Renderings {
  const kept = new WeakMap<Survey, Map<string, Promise<Rendering>>>();
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other, or many views at once would leave no time for anything else. */
  function inTurn(render: () => Promise<Rendered>): Promise<Rendering> {
    const turn = last.then(render).then(toRendering);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    get(survey, key, render) {
      const views = kept.get(survey) ?? new Map<string, Promise<Rendering>>();
      kept.set(survey, views);
      const known = views.get(key);
      if (known) return known;
      const rendering = inTurn(render);
      views.set(key, rendering);
      const [oldest] = views.keys();
      if (views.size > mostKept && oldest !== undefined) views.delete(oldest);
      return rendering;
    },
  };
}

function toRendering({ status, text, essence }: Rendered): Rendering {
  const bytes = Buffer.from(text);
  let compressed: Promise<Buffer> | undefined;
  return {
    status,
    tag: `"${createHash('sha256').update(essence).digest('base64url').slice(0, 22)}"`,
    bytes,
    compressed: () => (compressed ??= compress(bytes, { level: 4 })),
  };
}
