import { fastify, type FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NewEvent } from '../../../src/history/event.ts';
import { registerStatusPage, type StatusPageParts } from '../../../src/pages/status/status-page.ts';
import { applianceStatus, exporterInfo, farmStatus, fleetStatus, minuteMs, nowMs } from '../../support/fleet-status.ts';
import { givenHistory, historyEvent, weightChange } from '../../support/given-events.ts';
import { until } from '../../support/until.ts';

const hourMs = 60 * minuteMs;
const all = '/?list=changes';
const ofAppliance = '/?appliance=lb-1';
const ofFarm = '/?appliance=lb-1&farm=shop';
const ofAlert = '/runbooks?appliance=lb-1&farm=shop';

const down = (backend: string, ageMs = 0): NewEvent =>
  historyEvent({
    kind: 'state',
    atMs: nowMs - ageMs,
    by: undefined,
    differences: [weightChange({ name: backend, setting: 'state', before: 'up', after: 'down' })],
  });
const version: NewEvent = historyEvent({
  differences: [weightChange({ object: 'version', farm: '', service: '', name: 'lb-1', setting: 'kernel' })],
});
const certificate = (name: string): NewEvent =>
  historyEvent({
    differences: [weightChange({ object: 'certificate', farm: '', service: '', name, setting: 'issuer' })],
  });
const own = (kind: NewEvent['kind'], text: string, given: Partial<NewEvent> = {}): NewEvent =>
  historyEvent({ kind, text, differences: [], by: undefined, ...given });

describe('the timeline', () => {
  it('shows all events in one list, the newest first, each with before, after and author', async () => {
    const by = 'change ch-7 by alice';
    const page = givenPage([
      own('start', 'exporter 1.0.0 started', { appliance: '', atMs: nowMs - 6 * hourMs }),
      own('restart', 'restarted: its interfaces count their traffic from 0', { atMs: nowMs - 5 * hourMs }),
      own('change', 'Modify a backend: HTTP 200', { by, atMs: nowMs - 4 * hourMs }),
      historyEvent({ by, sinceMs: nowMs - 4 * hourMs, atMs: nowMs - 3 * hourMs }),
      historyEvent({ sinceMs: nowMs - 3 * hourMs, atMs: nowMs - 2 * hourMs }),
      down('10.0.0.1:80', hourMs),
      own('reload', 'configuration reloaded: 1 appliance changed', { appliance: '' }),
    ]);

    for (const url of [all, '/', ofAppliance])
      expect((await page.events(url)).map((each) => each.replace(/ lb-1$/, ''))).toEqual([
        '2026-11-21 03:11:04 UTC configuration reloaded: 1 appliance changed the exporter',
        '2026-11-21 02:12:04 UTC backend 10.0.0.1:80 of service front, farm shop up → down',
        '2026-11-21 01:12:04 UTC backend 10.0.0.1:80 of service front, farm shop weight: 1 → 5 made elsewhere, not through the gateway between 2026-11-21 00:12:04 UTC and 2026-11-21 01:12:04 UTC',
        '2026-11-21 00:12:04 UTC backend 10.0.0.1:80 of service front, farm shop weight: 1 → 5 change ch-7 by alice between 2026-11-20 23:12:04 UTC and 2026-11-21 00:12:04 UTC',
        '2026-11-20 23:12:04 UTC Modify a backend: HTTP 200 change ch-7 by alice',
        '2026-11-20 22:12:04 UTC restarted: its interfaces count their traffic from 0',
        '2026-11-20 21:12:04 UTC exporter 1.0.0 started the exporter',
      ]);
  });

  it('leads from a change to the console of the gateway, if there is one', async () => {
    const events = [historyEvent({ by: 'change ch-7 by alice' }), historyEvent({ by: 'call 8 by bob' })];
    const [on, off] = [givenPage(events, { adminUrl: 'https://lb-admin:9445' }), givenPage(events)];

    expect(await on.text(ofFarm)).toContain(
      '<a href="https://lb-admin:9445/console#ch-7"><bdi>change ch-7 by alice</bdi></a>',
    );
    for (const shown of [await on.text(ofFarm), await off.text(ofFarm)])
      expect(shown).not.toMatch(/console#(?!ch-7)|<a [^>]*><bdi>call 8/);
    expect(await off.text(ofFarm)).not.toContain('console');
  });

  it('shows what was added and removed, and how often something alternated', async () => {
    const other = { setting: '', name: '10.0.0.2:80', before: undefined, after: undefined };
    const toAndFro = Array.from({ length: 12 }, (_, index) =>
      historyEvent({
        atMs: nowMs - (12 - index) * minuteMs,
        differences: [index % 2 ? weightChange({ before: '5', after: '1' }) : weightChange()],
      }),
    );
    const page = givenPage([
      historyEvent({ atMs: nowMs - 2 * hourMs, differences: [weightChange({ ...other, after: 'weight 1' })] }),
      historyEvent({ atMs: nowMs - hourMs, differences: [weightChange({ ...other, before: 'weight 1' })] }),
      ...toAndFro,
      historyEvent({ differences: [weightChange({ setting: 'timeout', after: '' })] }),
    ]);

    const shown = await page.events(ofFarm);

    expect(shown).toHaveLength(4);
    expect(shown.join('\n')).toMatch(
      /timeout: 1 → none.*\n.*5 → 1 made elsewhere, not through the gateway 12 times between .*03:00:04.* and .*03:11:04.*\n.*gone: weight 1.*\n.*new: weight 1/,
    );
  });

  it('folds the differences of a restored backup', async () => {
    const differences = Array.from({ length: 500 }, (_, index) => weightChange({ name: `10.0.${index}.1:80` }));

    const text = await givenPage([historyEvent({ differences })]).text(ofAppliance);

    expect(text).toMatch(/<details data-open="no"><summary>and 497 more<\/summary>/);
    expect(text.slice(0, text.indexOf('and 497 more'))).toContain('10.0.2.1:80');
    expect(text.slice(0, text.indexOf('and 497 more'))).not.toContain('10.0.3.1:80');
  });

  it('shows for a farm what it depends on, and nothing of other farms', async () => {
    const page = givenPage([
      historyEvent({ differences: [weightChange({ farm: 'mail' })] }),
      certificate('shop.pem'),
      certificate('mail.pem'),
      own('restart', 'restarted'),
      version,
      historyEvent({ differences: [weightChange(), weightChange({ farm: 'mail', name: '10.0.0.9:25' })] }),
    ]);

    for (const url of [ofFarm, ofAlert, `${all}&appliance=lb-1&farm=shop`]) {
      const shown = (await page.events(url)).join('\n');
      expect(shown).toMatch(/10\.0\.0\.9:25.*\n.*kernel.*\n.*restarted.*\n.*shop\.pem/);
      expect(shown).not.toMatch(/mail\.pem|10\.0\.0\.1:80 of front, mail/);
    }
  });

  it('is filtered by a form, page by page', async () => {
    const many = Array.from({ length: 230 }, (_, index) => down(`10.0.1.${index}:80`, 230 - index));
    const page = givenPage([historyEvent({ atMs: nowMs - 3 * hourMs }), own('restart', 'restarted'), ...many]);
    const states = `${all}&event=state&appliance=lb-1&farm=shop&since=90m`;

    const text = await page.text(`${states}&page=3`);

    expect(text).toContain('Page 3 of 3 · 230 events');
    expect(text).toContain(
      'href="./?list=changes&amp;appliance=lb-1&amp;farm=shop&amp;event=state&amp;since=90m&amp;page=2"',
    );
    for (const part of ['value="state" selected', 'value="90m" selected', 'name="farm" value="shop"'])
      expect(text).toContain(part);
    expect(await page.events(`${all}&event=restart`)).toEqual([expect.stringContaining('restarted')]);
    expect(await page.events(`${all}&event=configuration&since=2h`)).toEqual([]);
    expect(await page.events(`${all}&since=2026-11-21T00:00:00Z&page=3`)).toHaveLength(32);
    for (const none of [`${all}&appliance=lb-9&event=state`, `${all}&event=nonsense`, `${all}&since=nonsense`])
      expect(await page.text(none)).toContain('There is none.');
    expect(await page.text('/?appliance=lb-1')).toContain('href="./?list=changes&amp;appliance=lb-1"');
  });

  it('says that no change is known', async () => {
    for (const url of ['/', ofAppliance, ofFarm, ofAlert])
      expect(await givenPage([]).text(url)).toContain('No changes are known.');
  });

  it('does not block a page while a disk hangs, and returns afterwards', async () => {
    const disk = Promise.withResolvers<undefined>();
    const history = givenHistory(historyEvent());
    let asked = 0;
    const find = async (query: Parameters<typeof history.find>[0]) => {
      asked += 1;
      await disk.promise;
      return await history.find(query);
    };
    const page = givenPage([], {}, { ...history, find });
    const silent = 'The history does not answer now';

    expect(await page.text(ofFarm)).toContain(silent);
    const shown = await Promise.all(
      [ofAppliance, all, ofAlert, ...Array.from({ length: 9 }, (_, i) => `${all}&farm=${i}`)].map(page.text),
    );
    expect(asked, 'by the first page alone').toBe(1);
    for (const text of shown) expect(text).toContain(silent);

    disk.resolve(undefined);
    await until(
      () => page.text(ofFarm),
      (text) => text.includes('weight: 1 → 5'),
    );
  });

  it('is rendered again as soon as something changes, and not before', async () => {
    const history = givenHistory(historyEvent());
    const page = givenPage([], {}, history);
    const { headers } = await page.get(ofFarm);
    const known = { 'if-none-match': String(headers.etag) };
    expect((await page.get(ofFarm, known)).statusCode).toBe(304);

    history.add(historyEvent({ differences: [weightChange({ setting: 'priority' })] }));

    const changed = await until(
      () => page.get(ofFarm, known),
      ({ statusCode }) => statusCode !== 304,
      5_000,
    );
    expect(changed.payload).toContain('priority: 1 → 5');
  });

  it('says that changes may be missing once some could not be kept, and only then', async () => {
    const history = givenHistory(historyEvent());
    const find: typeof history.find = async (query) => ({ ...(await history.find(query)), lost: 1_200 });
    const [whole, page] = [givenPage([historyEvent()]), givenPage([], {}, { ...history, find })];

    for (const url of ['/', ofAppliance, ofFarm, all, ofAlert]) {
      expect(await page.text(url)).toContain('1,200 readings or events');
      expect(await whole.text(url)).not.toContain('may be missing');
    }
  });

  it('says when the history cannot be read', async () => {
    const page = givenPage([], {}, { ...givenHistory(), find: () => Promise.reject(new Error('not a database')) });

    for (const url of ['/', ofAppliance, ofFarm, all, ofAlert])
      expect(await page.text(url)).toContain('The history does not answer now');
  });
});

describe('the runbooks of an alert', () => {
  it('list above them what changed on its farm in the last 6 hours, causes before their effects', async () => {
    const page = givenPage([
      historyEvent({ atMs: nowMs - 7 * hourMs, differences: [weightChange({ setting: 'priority' })] }),
      historyEvent({ atMs: nowMs - 5 * hourMs }),
      ...Array.from({ length: 30 }, (_, index) => down(`10.0.1.${index}:80`, hourMs - index)),
    ]);

    const text = await page.text(ofAlert);
    const shown = await page.events(ofAlert);

    expect(text).toContain('What changed on this farm in the last 6 hours');
    expect(text.indexOf('id="changes"')).toBeLessThan(text.indexOf('<h1'));
    expect(text).toContain('href="./?list=changes&amp;appliance=lb-1&amp;farm=shop&amp;since=6h"');
    expect(text).toContain('<a href="#changes">What changed before</a>');
    expect(shown).toHaveLength(10);
    expect(shown.at(-1)).toContain('weight: 1 → 5');
    expect(await page.text('/runbooks?appliance=lb-1')).toContain('What changed on this appliance in the last 6 hours');
  });

  it.each(['/runbooks', '/runbooks?farm=shop', '/runbooks?appliance=lb-9&farm=shop'])(
    'list nothing at %s, which names no watched appliance',
    async (url) => {
      expect(await givenPage([historyEvent()]).text(url)).not.toContain('What changed');
    },
  );
});

function givenPage(
  events: readonly NewEvent[],
  facts: Parameters<typeof exporterInfo>[0] = {},
  history: StatusPageParts['history'] = givenHistory(...events),
) {
  const app: FastifyInstance = fastify();
  onTestFinished(() => app.close());
  const farms = [farmStatus({ name: 'shop', certificates: ['shop.pem'] })];
  registerStatusPage(app, {
    fleetStatus: () => fleetStatus(applianceStatus({ name: 'lb-1', farms })),
    unknownApplianceMessage: (appliance) => `No ${appliance} here.`,
    exporter: () => exporterInfo(facts),
    withCommandName: (text) => text,
    lastMinuteOf: () => undefined,
    twinOf: () => undefined,
    history,
    now: () => nowMs,
  });
  const get = (url: string, headers = {}) => app.inject({ url, headers });
  const text = async (url: string): Promise<string> => (await get(url)).payload;
  return {
    get,
    text,
    /** The events of a page as a reader sees them. */
    async events(url: string): Promise<readonly string[]> {
      const list = /<ol class="changes">(.*?)<\/ol>/s.exec(await text(url))?.[1] ?? '';
      return list
        .split('</li>')
        .map((item) =>
          item
            .replaceAll(/<[^>]*>/g, ' ')
            .replaceAll(/\s+/g, ' ')
            .trim(),
        )
        .filter((item) => item !== '');
    },
  };
}
