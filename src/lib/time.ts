const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Returns the milliseconds of a duration such as `20s`, `3m` or `1h30m`; undefined for any other
 * text.
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * unitMs[unit as keyof typeof unitMs];
  }
  return Math.round(total);
}

/** Formats milliseconds for people: `90000` becomes `1m30s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  let seconds = Math.round(ms / 1_000);
  const parts: string[] = [];
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const amount = Math.floor(seconds / size);
    seconds -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
  }
  return parts.join('');
}

/** Returns the UTC day of Unix milliseconds: `2026-11-21`. */
export function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'a day that cannot be read' : date.toISOString().slice(0, 10);
}
