/** Bytes of a value besides its characters: a number, a reference, a part of an object. */
const bytesPerValue = 16;

/** Estimates the memory of a value that is made of lists, objects, texts and numbers. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerValue + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerValue;
  let bytes = bytesPerValue;
  // No array of values: tens of thousands of backends are measured.
  for (const key in value) bytes += sizeOf(value[key as keyof typeof value]);
  return bytes;
}
