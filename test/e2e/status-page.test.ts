import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { deactivatedWorld, expiringWorld } from '../../simulator/scenes/expiring.ts';
import { givenBrowser, type OpenPage, watchPage } from '../support/browser.ts';
import { type GivenExporterOptions, givenExporter } from '../support/given-exporter.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';
import type { World } from '../../simulator/world.ts';

const eager = { eager: ['farms', 'backends', 'appliance', 'certificates'] };

describe.skipIf(!isThere('chromium'))('the status page in a real browser', () => {
  const open = givenBrowser();

  it.each([3, 1_000])(
    'shows within 5 s and without a reload that a farm went down, among %i appliances',
    async (count) => {
      const world = busyWorld();
      const fleet = { appliances: count - 1, farms: 2, backendsPerFarm: 2 };
      const { page, complaints, url } = await givenPage(open, { 'lb-madrid': world }, { ...eager, fleet });
      await page.goto(url);
      await page.evaluate('globalThis.unchanged = true');
      await seen(page, /^Farm oldportal is down$/);
      // The first round of a thousand appliances takes a small machine a minute.
      await until(
        () => fetch(`${url}/-/ready`),
        ({ ok }) => ok,
        400_000,
      );
      const all = count.toLocaleString('en');
      await seen(page, `${all} of ${all} appliances answer`);

      const shop = world.farms.get('shop');
      const news = page.locator('main').getByText(/^Farm shop is down$/);
      const shownAfterMs = async (running: boolean): Promise<number> => {
        if (shop) shop.running = running;
        await until(
          () => fetch(`${url}/api/status?appliance=lb-madrid`).then((answer) => answer.text()),
          (status) => /"name":"shop","profile":"https","state":"down"/.test(status) !== running,
        );
        const readAtMs = performance.now();
        await news.first().waitFor({ state: running ? 'hidden' : 'visible', timeout: 120_000 });
        return performance.now() - readAtMs;
      };
      // The median: another test may take a core for a moment.
      const waits = [await shownAfterMs(false), await shownAfterMs(true), await shownAfterMs(false)];
      const median = waits.toSorted((one, other) => one - other)[1];

      const { length } = await (await fetch(url)).text();
      expect(median).toBeLessThan(5_000);
      expect(length).toBeLessThan(300_000);
      expect(await page.evaluate('globalThis.unchanged')).toBe(true);
      expect(complaints).toEqual([]);
    },
    600_000,
  );

  it('is searched and navigated with the keyboard alone', async () => {
    const { page, url, complaints } = await givenPage(open, { 'lb-madrid': busyWorld(), 'lb-berlin': expiringWorld() });
    await page.goto(url);
    await seen(page, /^Farm oldportal is down$/);

    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('/');
    await page.keyboard.type('10.20.0.41');
    await seen(page, 'match for “10.20.0.41”');
    expect(page.url()).toBe(`${url}/?q=10.20.0.41`);
    expect(await page.locator('#backends td[data-label="Farm"]').textContent()).toBe('db');
    await page.keyboard.press('Escape');
    await seen(page, 'Appliances');
    expect(page.url()).toBe(`${url}/`);

    await page.getByRole('link', { name: 'lb-madrid' }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/?appliance=lb-madrid`);
    await seen(page, '10.20.0.14:8081');
    await page.reload();
    await seen(page, '10.20.0.14:8081');

    await page.keyboard.press('/');
    await page.keyboard.type('10.20.0.41');
    await seen(page, 'match for “10.20.0.41”');
    await page.keyboard.press('Escape');
    await seen(page, '10.20.0.14:8081');
    expect(page.url(), 'where the search began').toBe(`${url}/?appliance=lb-madrid`);
    expect(complaints).toEqual([]);
  });

  it('keeps focus, scroll position and open parts when a farm goes down and moves to the top', async () => {
    const world = busyWorld();
    const { page, url } = await givenPage(open, { 'lb-madrid': world }, eager);
    await page.setViewportSize({ width: 1_280, height: 500 });
    await page.goto(`${url}/?appliance=lb-madrid`);
    await seen(page, /^Farm oldportal is down$/);
    const farm = (name: string) => page.locator('details.farm', { has: page.getByText(name, { exact: true }) });
    const [moving, shop] = [farm('db'), farm('shop')];
    // Both are open once their backends are read, since some are down; the reader closes one.
    for (const each of [moving, shop]) await each.and(page.locator('[data-open="yes"]')).waitFor();
    await moving.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.evaluate('scrollTo(0, 300)');

    const db = world.farms.get('db');
    if (db) db.running = false;
    await seen(page, /^Farm db is down$/);

    expect(await moving.getAttribute('open')).toBe(null);
    expect(await shop.getAttribute('open')).toBe('');
    expect(await page.evaluate('document.activeElement.closest("li").dataset.key')).toBe('db');
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
  });

  it('warns at once that the exporter does not respond, and continues when it does', async () => {
    const { page, url, start, stop } = await givenPage(open, { 'lb-madrid': busyWorld() });
    await page.goto(url);
    await seen(page, /^Farm oldportal is down$/);
    expect(await page.getByRole('alert').isVisible()).toBe(false);

    await stop();
    await page.getByRole('alert').waitFor({ timeout: 8_000 });
    expect(await page.getByRole('alert').textContent()).toMatch(
      /^No response from the exporter since \d\d:\d\d:\d\d; what you see is old\.$/,
    );
    expect(await page.locator('body').getAttribute('class')).toContain('stale');
    expect(await page.locator('#live').textContent()).toMatch(/^Old/);

    await start(Number(new URL(url).port));
    await page.getByRole('alert').waitFor({ state: 'hidden', timeout: 8_000 });
    expect(await page.locator('body').getAttribute('class')).not.toContain('stale');
  });

  it('shows two objects with one name separately', async () => {
    const { page, url } = await givenPage(open, { 'lb-madrid': busyWorld() });
    await page.goto(url);

    const texts = await page.evaluate<string[]>(`import('./assets/match.js').then(({ matchChildren }) => {
      const list = (...texts) => {
        const made = document.createElement('ol');
        for (const text of texts) made.append(Object.assign(document.createElement('li'), { textContent: text }));
        for (const item of made.children) item.dataset.key = 'same';
        return made;
      };
      const shown = list('a', 'b');
      matchChildren(shown, list('c', 'd', 'e'), () => undefined);
      const first = [...shown.children].map((item) => item.textContent);
      matchChildren(shown, list('f', 'g'), () => undefined);
      return [...first, ...[...shown.children].map((item) => item.textContent)];
    })`);

    expect(texts).toEqual(['c', 'd', 'e', 'f', 'g']);
  });

  it('is complete without scripts, and reloads itself', async () => {
    const { page, url } = await givenPage(open, { 'lb-madrid': busyWorld() }, {}, { javaScriptEnabled: false });
    await until(
      () => fetch(url).then((answer) => answer.text()),
      (text) => text.includes('Farm oldportal is down') && text.includes('shop_example_com.pem'),
    );
    await page.goto(url);

    expect(await page.locator('.problem').count()).toBeGreaterThan(3);
    expect(await page.locator('header').textContent()).toContain('without scripts this page reloads every 30 s');
    await page.getByRole('searchbox').fill('shop');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(`${url}/?q=shop`);
    expect(await page.locator('h1').textContent()).toMatch(/matches for “shop”/);
    await page.getByRole('link', { name: 'lb-madrid' }).first().click();
    await page.waitForURL(`${url}/?appliance=lb-madrid`);
    expect(await page.locator('details.farm').count()).toBe(9);
  });

  it.each([
    ['dark', 1_280],
    ['light', 360],
    ['light', 3_840],
  ] as const)('has no axe violations: %s, %i wide', async (colorScheme, width) => {
    const [first, second] = healthyPair();
    const worlds = {
      'lb-paris-1': first,
      'lb-paris-2': second,
      'lb-madrid': busyWorld(),
      'lb-berlin': expiringWorld(),
      'lb-lisbon': deactivatedWorld(),
    };
    const { page, url, appliances, complaints } = await givenPage(
      open,
      worlds,
      {},
      {
        colorScheme,
        viewport: { width, height: 900 },
      },
    );
    appliances[1]?.fail('*', { kind: 'hang' });
    await until(
      () => fetch(url).then((answer) => answer.text()),
      (text) =>
        text.includes('Farm oldportal is down') && text.includes('has expired') && text.includes('is deactivated'),
    );

    for (const query of [
      '?by=edition',
      '?by=edition&group=enterprise',
      '?appliance=lb-berlin&certificate=old_example_com.pem',
      '',
      '?appliance=lb-madrid',
      '?q=shop',
      '?list=certificates',
      '?list=changes&appliance=lb-madrid',
      '?appliance=none',
      'runbooks',
      'runbooks?appliance=lb-madrid&farm=oldportal',
    ]) {
      await page.goto(`${url}/${query}`);
      if (!query.startsWith('runbooks')) await page.locator('.live.running').waitFor();
      await page.evaluate(axe.source);
      const violations = await page.evaluate<unknown[]>(
        `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html.slice(0, 300) + failureSummary)]))`,
      );
      expect(violations, query).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${query} fits`).toBe(true);
    }
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  it('shows both columns of twins without a horizontal scroll, 390 wide', async () => {
    const width = 390;
    const [first, second] = healthyPair();
    const { page, url } = await givenPage(
      open,
      { 'lb-paris-1': first, 'lb-paris-2': second },
      { twins: [['lb-paris-1', 'lb-paris-2']] },
      { viewport: { width, height: 844 } },
    );

    await page.goto(`${url}/?appliance=lb-paris-1`);
    await seen(page, 'A failover to lb-paris-2 now would change not_after of certificate www_example_com.pem.');

    expect(await page.locator('#twin h2').innerText()).toBe('Twin lb-paris-2: 1 difference');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await page.evaluate(axe.source);
    expect(await page.evaluate(`axe.run('#twin').then(({ violations }) => violations.map(({ id }) => id))`)).toEqual(
      [],
    );
  });

  it.each([320, 390])(
    'shows an appliance that has never responded without a horizontal scroll, %i wide',
    async (width) => {
      const { appliances, page, start, stop } = await givenPage(
        open,
        { 'lb-madrid': busyWorld() },
        {},
        { viewport: { width, height: 844 } },
      );
      await stop();
      appliances[0]?.fail('*', { kind: 'refuse' });
      const url = await start();

      await page.goto(`${url}/?appliance=lb-madrid`);
      await seen(page, 'held back after failures');

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    },
  );
});

/** An exporter, and a page to look at it. */
async function givenPage(
  open: OpenPage,
  worlds: Readonly<Record<string, World>>,
  options: GivenExporterOptions = {},
  context: BrowserContextOptions = {},
) {
  const exporter = await givenExporter(worlds, options);
  const page = await open(context);
  return { ...exporter, page, complaints: watchPage(page, exporter.url) };
}

/** Waits until the page says it. */
async function seen(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('main').getByText(text).first().waitFor({ timeout: 120_000 });
}
