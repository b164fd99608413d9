const unitBytes: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

/** Returns the bytes of a size such as `8MiB` or `500KB`; undefined for any other text. */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([KMG]i?B|B)$/.exec(text);
  const unit = unitBytes[match?.[2] ?? ''];
  return match && unit ? Math.round(Number(match[1]) * unit) : undefined;
}
