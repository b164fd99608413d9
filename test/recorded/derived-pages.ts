/** Returns the page of two equal appliances, made of the page of `lb-one`: each family has both, one after the other. */
export function withTwin(page: string): string {
  return page.replaceAll(/(?:^[^#\n].*\n)+/gm, (samples) => samples + samples.replaceAll('"lb-one"', '"lb-two"'));
}

/** Returns a page as OpenMetrics has it: counters are named without `_total`, and an end is marked. */
export function asOpenMetrics(page: string): string {
  const counters = [...page.matchAll(/^# TYPE (\S+)_total counter$/gm)].map(([, name = '']) => name);
  const headers = new RegExp(`^(# (?:HELP|TYPE) (?:${counters.join('|')}))_total `, 'gm');
  return `${page.replaceAll(headers, '$1 ')}# EOF\n`;
}
