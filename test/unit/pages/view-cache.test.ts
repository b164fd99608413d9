import { expect, it } from 'vitest';
import type { HealthSummary } from '../../../src/state/health.ts';
import { createViewCache } from '../../../src/pages/status/view-cache.ts';

const page = { status: 200, text: 'a page', etagInput: '' };
/** The signal of a reader that stays. */
const here = new AbortController().signal;

it('the view cache keeps the newest 32 views of a summary, because anybody may search for anything', async () => {
  const view = createViewCache();
  const summary = {} as HealthSummary;
  const rendered: string[] = [];
  const look = (search: string) =>
    view(summary, {
      key: search,
      closed: here,
      render: () => {
        rendered.push(search);
        return Promise.resolve({ status: 200, text: search, etagInput: search });
      },
    });
  const searches = Array.from({ length: 33 }, (_, index) => `search-${index}`);
  for (const search of searches) await look(search);

  await look('search-1');
  await look('search-0');

  expect(rendered).toEqual([...searches, 'search-0']);
});

it('the view cache renders the next view even if one before it failed', async () => {
  const view = createViewCache();
  const summary = {} as HealthSummary;

  const failing = view(summary, { key: 'one', closed: here, render: () => Promise.reject(new Error('a bug')) });
  const next = view(summary, { key: 'other', closed: here, render: () => Promise.resolve(page) });

  await expect(failing).rejects.toThrow('a bug');
  expect((await next)?.bytes.toString()).toBe('a page');
});

it('the view cache skips a view whose readers have all left, and renders one that a reader still waits for', async () => {
  const view = createViewCache();
  const summary = {} as HealthSummary;
  const first = Promise.withResolvers<typeof page>();
  const leaving = new AbortController();
  const rendered: string[] = [];
  const look = (key: string, left: AbortSignal) =>
    view(summary, { key, closed: left, render: () => (rendered.push(key), Promise.resolve(page)) });
  void view(summary, { key: 'first', closed: here, render: () => first.promise });

  const views = [look('left', leaving.signal), look('shared', leaving.signal), look('shared', here)];
  leaving.abort();
  first.resolve(page);
  const [left, ...shared] = await Promise.all(views);
  await look('left', here);

  expect(left).toBeUndefined();
  expect(shared.map((each) => each?.status)).toEqual([200, 200]);
  expect(rendered).toEqual(['shared', 'left']);
});
