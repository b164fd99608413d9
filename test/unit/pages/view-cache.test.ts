import { expect, it } from 'vitest';
import type { HealthSummary } from '../../../src/state/health.ts';
import { createViewCache } from '../../../src/pages/status/view-cache.ts';

it('keeps the newest 32 views of a summary: anybody may search for anything', async () => {
  const view = createViewCache();
  const summary = {} as HealthSummary;
  const rendered: string[] = [];
  const look = (search: string) =>
    view(summary, search, () => {
      rendered.push(search);
      return Promise.resolve({ status: 200, text: search, etagInput: search });
    });
  const searches = Array.from({ length: 33 }, (_, index) => `search-${index}`);
  for (const search of searches) await look(search);

  await look('search-1');
  await look('search-0');

  expect(rendered).toEqual([...searches, 'search-0']);
});

it('renders the next view although one before it failed', async () => {
  const view = createViewCache();
  const summary = {} as HealthSummary;

  const failing = view(summary, 'one', () => Promise.reject(new Error('a bug')));
  const next = view(summary, 'other', () => Promise.resolve({ status: 200, text: 'other', etagInput: '' }));

  await expect(failing).rejects.toThrow('a bug');
  expect((await next).bytes.toString()).toBe('other');
});
