import type { Registry } from 'prom-client';
import type { Format } from './page.ts';

/** What a prom-client registry says, as part of a page: no blank lines, and in OpenMetrics no closing `# EOF`. */
export async function registryText(registry: Registry, format: Format): Promise<string> {
  return inFormat(await classicText(registry), format);
}

/** The same in the classic format, from which the other can be made. */
export async function classicText(registry: Registry): Promise<string> {
  // Never OpenMetrics: rendering that once makes prom-client 15.1.3 lose `_total` in all later classic ones.
  return `${await registry.metrics()}\n`.replaceAll(/\n{2,}/g, '\n').replaceAll(/ Nan$/gm, ' NaN');
}

export function inFormat(classic: string, format: Format): string {
  return format === 'text' ? classic : toOpenMetrics(classic);
}

/** Counter families are named without their suffix in OpenMetrics; samples stay as they are. */
function toOpenMetrics(classic: string): string {
  const counters = new Set([...classic.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name]) => name));
  return classic.replaceAll(/^(# (?:HELP|TYPE) )(\S+)_total /gm, (line, start: string, name: string) =>
    counters.has(name) ? `${start}${name} ` : line,
  );
}
