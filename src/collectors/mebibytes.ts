const bytesPerMebibyte = 1_048_576;

/** Whole bytes; the appliance counts traffic and memory in MiB with two decimals. Unknown stays unknown. */
export function mebibytesToBytes(mebibytes: number | null | undefined): number | null {
  return mebibytes === null || mebibytes === undefined ? null : Math.round(mebibytes * bytesPerMebibyte);
}
