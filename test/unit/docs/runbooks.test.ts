import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runbooks } from '../../../scripts/runbooks.ts';

it('the runbooks that the exporter serves are those of docs/operations.md; npm run docs writes them', () => {
  const served = readFileSync(new URL('../../../src/http/status-page/assets/runbooks.html', import.meta.url), 'utf8');

  expect(served).toBe(runbooks());
});

it('they have an anchor for each alert and no link that leads nowhere', () => {
  const text = runbooks();
  const rules = readFileSync(new URL('../../../alerts/zlb.rules.yml', import.meta.url), 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name.toLowerCase());
  const anchors = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

  expect(alerts.filter((alert) => !anchors.has(alert))).toEqual([]);
  expect([...text.matchAll(/<a href="#([^"]*)"/g)].filter(([, id]) => !anchors.has(id))).toEqual([]);
});
