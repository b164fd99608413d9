import type { Family } from './family.ts';
import { joinChunks, type Joint } from './joint.ts';
import type { Chunk } from './piece.ts';

/** What one appliance has on the page, by the parts that put it there, and joined by family. */
export interface Holding {
  /** Replaces all that a part had, with at most one chunk a family; returns the families whose lines are others now. */
  put(part: string, chunks: readonly Chunk[]): readonly Family[];
  chunks(part: string): readonly Chunk[];
  /** Of all parts; kept up to date, since it is asked for at every reading. */
  readonly series: number;
  /** The newest lines of a family, undefined where there are none. Joined when first asked for after a change. */
  joint(family: Family): Joint | undefined;
  /** Joins what changed, a family at each step. */
  joinAhead(): Iterable<void>;
}

/** The lines of one family, by the parts that they are from. */
interface Lines {
  readonly chunks: Map<string, Chunk>;
  /** Undefined after a change. */
  joint: Joint | undefined;
}

export function createHolding(): Holding {
  const parts = new Map<string, readonly Chunk[]>();
  const families = new Map<Family, Lines>();
  /** Without a joint, or without lines any more. */
  const loose = new Set<Lines>();
  let series = 0;

  function linesOf(family: Family): Lines {
    const lines = families.get(family) ?? { chunks: new Map(), joint: undefined };
    families.set(family, lines);
    return lines;
  }

  function join(lines: Lines): Joint | undefined {
    loose.delete(lines);
    if (lines.chunks.size > 0) lines.joint ??= joinChunks([...lines.chunks.values()]);
    return lines.joint;
  }

  return {
    put(part, chunks) {
      const before = parts.get(part) ?? [];
      if (chunks.length > 0) parts.set(part, chunks);
      else parts.delete(part);
      const gone = before.filter((chunk) => !chunks.includes(chunk));
      const come = chunks.filter((chunk) => !before.includes(chunk));
      for (const chunk of come) {
        series += chunk.series;
        linesOf(chunk.family).chunks.set(part, chunk);
      }
      // Afterwards, so that what has come instead keeps the place of what is gone.
      for (const chunk of gone) {
        series -= chunk.series;
        const { chunks: ofFamily } = linesOf(chunk.family);
        if (ofFamily.get(part) === chunk) ofFamily.delete(part);
      }
      const changed = [...gone, ...come].map(({ family }) => family);
      for (const family of changed) {
        const lines = linesOf(family);
        lines.joint = undefined;
        loose.add(lines);
      }
      return changed;
    },
    chunks: (part) => parts.get(part) ?? [],
    get series() {
      return series;
    },
    joint(family) {
      const lines = families.get(family);
      return lines && (lines.joint ?? join(lines));
    },
    *joinAhead() {
      for (const lines of loose) {
        join(lines);
        yield;
      }
    },
  };
}
