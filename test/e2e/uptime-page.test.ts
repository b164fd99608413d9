import axe from 'axe-core';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FarmTime } from '../../src/history/farm-times.ts';
import { registerStatusPage } from '../../src/pages/status/status-page.ts';
import { givenBrowser, watchPage } from '../support/browser.ts';
import { applianceStatus, exporterInfo, farmStatus, fleetStatus } from '../support/fleet-status.ts';
import { givenHistory } from '../support/given-events.ts';
import { isThere } from '../support/programs.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const nowMs = Date.UTC(2026, 10, 29, 12, 30);

/** A farm that was down twice, in maintenance once, and not watched for a while. */
function times(): readonly FarmTime[] {
  return [hourMs, 24 * hourMs].flatMap((spanMs) =>
    Array.from({ length: 30 }, (_, ago): FarmTime => {
      const fromMs = Math.floor(nowMs / spanMs) * spanMs - ago * spanMs;
      const known = ago > 20 && ago < 24 ? 0 : Math.min(spanMs, nowMs - fromMs);
      const down = ago === 3 ? 2 * minuteMs : ago === 4 ? known / 2 : 0;
      const maintenance = ago === 9 ? known / 3 : 0;
      return { spanMs, fromMs, up: known - down - maintenance, down, maintenance };
    }),
  );
}

describe.skipIf(!isThere('chromium'))('the availability of a farm in a real browser', () => {
  const open = givenBrowser();

  it.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1_360],
    ['dark', 1_360],
  ] as const)('has no axe violations and no horizontal scroll: %s, %i wide', async (colorScheme, width) => {
    const app = fastify();
    onTestFinished(() => app.close());
    registerStatusPage(app, {
      fleetStatus: () => fleetStatus(applianceStatus({ name: 'lb-1', farms: [farmStatus({ name: 'shop' })] })),
      unknownApplianceMessage: (appliance) => `No ${appliance} here.`,
      exporter: () => exporterInfo(),
      withCommandName: (text) => text,
      lastMinuteOf: () => undefined,
      twinOf: () => undefined,
      history: { ...givenHistory(), timesOf: () => Promise.resolve(times()) },
      now: () => nowMs,
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const page = await open({ colorScheme, viewport: { width, height: 900 } });
    const complaints = watchPage(page, url);

    await page.goto(`${url}/?appliance=lb-1&farm=shop`);

    const strips = page.locator('#uptime svg[role=img]');
    expect(await strips.count()).toBe(2);
    expect(await strips.first().getAttribute('aria-label')).toMatch(
      /^Last 24 hours: up 9\d\.\d{3} % of the known \d+ h/,
    );
    await page.locator('#uptime summary').first().click();
    expect(await page.locator('#uptime tbody tr').first().isVisible()).toBe(true);
    await page.evaluate(axe.source);
    expect(await page.evaluate(`axe.run('#uptime').then(({ violations }) => violations.map(({ id }) => id))`)).toEqual(
      [],
    );
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(complaints).toEqual([]);
    await page.locator('#uptime summary').first().click();
  });
});
