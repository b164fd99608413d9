const longestClockOffsetMs = 10 * 365.25 * 86_400_000;

/**
 * The appliance's clock against ours, in seconds. The Date header has whole seconds and was written at some moment between
 * our two readings, which are Unix milliseconds; 0 says that the clocks agree within what that can show. Undefined where
 * the header is no date, or more than ten years off, which is no clock.
 */
export function clockOffset(date: string, sentAt: number, receivedAt: number): number | undefined {
  const second = Date.parse(date);
  if (Number.isNaN(second) || Math.abs(second - receivedAt) > longestClockOffsetMs) return undefined;
  const earliest = second - receivedAt;
  const latest = second + 1_000 - sentAt;
  return earliest <= 0 && latest >= 0 ? 0 : Math.round((earliest + latest) / 2) / 1_000;
}
