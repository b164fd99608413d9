import type { Family } from './family.ts';
import { joinChunks, type Joint } from './joint.ts';
import type { Chunk } from './piece.ts';

/** What one appliance has on the page, by the parts that put it there, and joined by family. */
export interface Holding {
  /** Replaces all that a part had, with at most one chunk a family; returns the families whose lines are others now. */
  put(part: string, chunks: readonly Chunk[]): readonly Family[];
  chunks(part: string): readonly Chunk[];
  /** Series of all parts, or of all but one; kept up to date, since it is asked for at every reading. */
  series(exceptPart?: string): number;
  /** The newest lines of a family, undefined where there are none. Joined when first asked for after a change. */
  joint(family: Family): Joint | undefined;
}

interface Part {
  readonly chunks: readonly Chunk[];
  readonly series: number;
}

const nothing: Part = { chunks: [], series: 0 };

export function createHolding(): Holding {
  const parts = new Map<string, Part>();
  const joints = new Map<Family, Joint>();
  const changed = new Set<Family>();
  let series = 0;

  /** All that changed at once, so that the parts are gone through once. */
  function join(): void {
    const lines = new Map<Family, Chunk[]>([...changed].map((family) => [family, []]));
    for (const { chunks } of parts.values()) for (const chunk of chunks) lines.get(chunk.family)?.push(chunk);
    for (const [family, chunks] of lines) {
      if (chunks.length > 0) joints.set(family, joinChunks(chunks));
      else joints.delete(family);
    }
    changed.clear();
  }

  return {
    put(name, chunks) {
      const before = parts.get(name) ?? nothing;
      const part = { chunks, series: chunks.reduce((sum, chunk) => sum + chunk.series, 0) };
      if (chunks.length > 0) parts.set(name, part);
      else parts.delete(name);
      series += part.series - before.series;
      const different = [
        ...before.chunks.filter((chunk) => !chunks.includes(chunk)),
        ...chunks.filter((chunk) => !before.chunks.includes(chunk)),
      ];
      for (const { family } of different) changed.add(family);
      return different.map(({ family }) => family);
    },
    chunks: (part) => (parts.get(part) ?? nothing).chunks,
    series: (exceptPart) => series - (exceptPart === undefined ? 0 : (parts.get(exceptPart) ?? nothing).series),
    joint(family) {
      if (changed.has(family)) join();
      return joints.get(family);
    },
  };
}
