import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { adminDocument } from '../../../scripts/admin-document.ts';

it('the tables of docs/admin.md are what the code says; npm run docs writes them', () => {
  const text = readFileSync(new URL('../../../docs/admin.md', import.meta.url), 'utf8');

  expect(text).toBe(adminDocument(text));
});
