import type { Family } from './family.ts';
import type { Packed } from './gzip.ts';
import type { Joint } from './joint.ts';
import { toPiece } from './piece.ts';

/** Prometheus text 0.0.4, or OpenMetrics 1.0. Only the headers of counters and the last line differ. */
export const formats = ['text', 'openmetrics'] as const;

export type Format = (typeof formats)[number];

/** In which form somebody asks for a page. */
export interface Representation {
  readonly format: Format;
  /** With gzip, or as plain text. */
  readonly compressed: boolean;
}

/** Finished bytes in the order of the families, for one scrape or for many. It stays as it is, whatever is read meanwhile. */
export interface Page {
  /** What to send as plain text, in order; pages share it, so that 10 MB of text are not copied to change a fortieth. */
  readonly texts: readonly Buffer[];
  /** What to send compressed, in order. */
  readonly packed: readonly Packed[];
  /** Bytes of the plain text. */
  readonly size: number;
  /** All of it in one buffer, made when asked for. */
  readonly text: Buffer;
}

/** The lines above the samples of a family. */
export type Headers = Readonly<Record<Format, Joint>>;

export function createPage(joints: readonly Joint[]): Page {
  let texts: readonly Buffer[] | undefined;
  const packed = joints.map((joint) => joint.packed());
  return {
    get texts() {
      return (texts ??= joints.flatMap((joint) => joint.texts()));
    },
    packed,
    size: packed.reduce((sum, { size }) => sum + size, 0),
    get text() {
      return Buffer.concat(this.texts);
    },
  };
}

export function headersOf(family: Family): Headers {
  // OpenMetrics names the family of a counter without the suffix that its samples carry.
  const openmetrics = family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
  return { text: toHeader(family, family.name), openmetrics: toHeader(family, openmetrics) };
}

function toHeader({ help, type }: Family, name: string): Joint {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const { text, packed } = toPiece(`# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`);
  return { texts: () => [text], packed: () => packed };
}
