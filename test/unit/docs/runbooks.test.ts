import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { roleMay } from '../../../src/admin/policy/policy.ts';
import { loadRunbooks } from '../../../src/pages/assets.ts';
import { renderRunbooks } from '../../../src/pages/runbooks/render-runbooks.ts';
import { alertNames, shippedRules } from '../../support/shipped-rules.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const operations = read('docs/operations.md');

it('a clone serves the runbooks of docs/operations.md', async () => {
  expect(await loadRunbooks()).toBe(renderRunbooks(operations));
});

it('the served runbooks have an anchor for each alert and no other, and no broken link', () => {
  const text = renderRunbooks(operations);
  const anchors = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

  expect([...anchors].filter((id) => id.startsWith('zlb')).toSorted()).toEqual(
    alertNames.map((alert) => alert.toLowerCase()).toSorted(),
  );
  expect([...text.matchAll(/<a href="#([^"]*)"/g)].filter(([, id = '']) => !anchors.has(id))).toEqual([]);
});

it('the runbook of a page explains the alert, diagnosis, repair without the gateway, and verification', () => {
  const criticals = shippedRules.flatMap(({ alert, labels }) => (labels?.severity === 'critical' ? (alert ?? []) : []));
  const steps = ['Look', 'Repair', 'Without the gateway', 'Verify'];

  expect(criticals.length).toBeGreaterThan(0);
  for (const alert of criticals) {
    const [, section = ''] = operations.split(`\n### ${alert}\n`);
    const [text = ''] = section.split(/\n#{2,3} /);
    const written = [...text.matchAll(/^\*\*([\w ]+)\.\*\*/gm)].map(([, step]) => step);
    expect(written, alert).toEqual(steps);
    expect(text.trimStart(), alert).not.toMatch(/^\*\*Look/);
  }
});

it('a command takes the certificate name from the alert, or from what the reader sets first', () => {
  const runbooks = operations.split('\n## Procedures\n')[1] ?? '';

  expect(
    runbooks.match(/^ *(?:zapi|zlb-exporter|type=|file=).*\b(?!activation)[\w-]+\.pem.*|-subj \/CN=[^$].*/gm),
  ).toBeNull();
});

it('a section whose commands need the role admin says so', () => {
  const needAdmin = Object.entries(endpoints).flatMap(([key, { risk }]) => (roleMay('operator', risk) ? [] : [key]));
  const silent = operations
    .split(/\n(?=#{2,3} )/)
    .filter((section) => !/\*\(admin\b|# admin\b|role `admin`/.test(section))
    .flatMap((section) => {
      const called = [...section.matchAll(/^zlb-exporter admin \S+ (\w+)/gm)].map(([, key = '']) => key);
      return called.some((key) => needAdmin.includes(key)) ? [section.split('\n')[0]] : [];
    });

  expect(silent).toEqual([]);
});
