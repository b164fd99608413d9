/** The day of a moment in Unix milliseconds, in UTC: `2026-11-21`. */
export function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'a day that cannot be read' : date.toISOString().slice(0, 10);
}
