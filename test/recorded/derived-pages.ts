/** Returns the page of two equal appliances, from that of `lb-one`: each family has both. */
export function withTwin(page: string): string {
  return page.replaceAll(/(?:^[^#\n].*\n)+/gm, (samples) => samples + samples.replaceAll('"lb-one"', '"lb-two"'));
}

/** Returns a page as OpenMetrics: headers of counters lack `_total`, and the end is marked. */
export function asOpenMetrics(page: string): string {
  const counters = [...page.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name = '']) => name);
  const headers = new RegExp(`^(# (?:HELP|TYPE) (?:${counters.join('|')}))_total `, 'gm');
  return `${page.replaceAll(headers, '$1 ')}# EOF\n`;
}
