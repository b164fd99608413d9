import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { adminDocument } from '../../../scripts/document-tables.ts';
import { adminHelp } from '../../../src/commands/help.ts';

it('the tables of docs/admin.md are what the code says; npm run docs writes them', () => {
  const text = readFileSync(new URL('../../../docs/admin.md', import.meta.url), 'utf8');

  expect(text).toBe(adminDocument(text));
});

it.each(['docs/admin.md', 'docs/operations.md'])(
  '%s has the rule of agreement in the words of admin --help',
  (path) => {
    const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    const [rule] = /Every change asks.*?--yes\./.exec(inOneLine(adminHelp)) ?? [];

    expect(rule).toContain('without a terminal it needs --yes');
    expect(inOneLine(text.replaceAll('`', ''))).toContain(rule);
  },
);

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
