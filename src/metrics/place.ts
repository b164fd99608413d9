/**
 * Where bytes are. They never change, but may move into a memory with others: there are a hundred thousand of these, of which
 * thousands move each second, and a view of its own for each would be work for the garbage collector alone.
 */
export interface Place {
  memory: Buffer;
  start: number;
  readonly length: number;
}

export function placeOf(bytes: Buffer): Place {
  return { memory: bytes, start: 0, length: bytes.length };
}

/** Moves the bytes into one memory, in order. */
export function moveTogether(places: readonly Place[]): Buffer {
  const memory = Buffer.allocUnsafeSlow(places.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const place of places) {
    place.memory.copy(memory, end, place.start, place.start + place.length);
    place.memory = memory;
    place.start = end;
    end += place.length;
  }
  return memory;
}

export function bytesAt({ memory, start, length }: Place): Buffer {
  return memory.subarray(start, start + length);
}

export function holds({ memory, start, length }: Place, bytes: Buffer): boolean {
  return length === bytes.length && memory.compare(bytes, 0, length, start, start + length) === 0;
}
