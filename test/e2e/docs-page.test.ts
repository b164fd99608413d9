import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../src/appliance/api/table.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { givenBrowser, type OpenPage, watchPage } from '../support/browser.ts';
import { givenGateway } from '../support/given-gateway.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

describe.skipIf(!isThere('chromium'))('the page under /docs in a real browser', () => {
  const open = givenBrowser();

  it('lists all operations without a complaint of the browser, within seconds', async () => {
    const own = ['listAppliances', 'discoverParameters', 'whoAmI', 'readAudit', 'readFreeze', 'freeze', 'unfreeze'];
    const requests = ['askForChange', 'listChangeRequests', 'readChangeRequest', 'approveChange', 'denyChange'];
    const all = [...Object.keys(endpoints), ...own, ...requests, 'cancelChange', 'postAlerts', 'readOpenApiDocument'];
    const { page, url, complaints } = await openPage(open);

    await page.goto(`${url}/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    const usableAfterMs = await page.evaluate<number>('performance.now()');
    // Only what is in sight is drawn.
    await page.setViewportSize({ width: 1_280, height: 40_000 });
    await page.evaluate(`document.querySelectorAll('.opblock-tag').forEach((tag) => tag.click())`);
    const ids = await until(
      () => page.locator('.opblock-summary-operation-id').allTextContents(),
      (seen) => seen.length >= all.length,
      30_000,
    );

    expect(ids.toSorted()).toEqual(all.toSorted());
    expect(complaints).toEqual([]);
    console.log(`/docs with ${all.length} operations was usable after ${Math.round(usableAfterMs)} ms`);
    expect(usableAfterMs).toBeLessThan(10_000);
  }, 60_000);

  it('shows what the search finds', async () => {
    const { page, url } = await openPage(open);
    await page.goto(`${url}/docs`);
    await page.locator('.opblock-tag').first().waitFor();

    await page.getByPlaceholder(/filter/i).fill('backends/{backend}/maintenance');
    await until(
      () => page.locator('.opblock-tag').count(),
      (count) => count === 1,
    );
    await page.locator('.opblock-tag').click();

    await expect
      .poll(() => page.locator('.opblock-summary-operation-id').allTextContents())
      .toEqual(['setFarmBackendMaintenance', 'setServiceBackendMaintenance']);
  }, 60_000);

  it('asks for one token in one box, and says where it comes from', async () => {
    const { page, url } = await openPage(open);
    await page.goto(`${url}/docs`);
    await page.locator('.scheme-container').getByRole('button', { name: 'Authorize' }).click();

    expect(await page.locator('.auth-container').getByRole('textbox').count()).toBe(1);
    expect(await page.locator('.auth-container').textContent()).toContain('zlb-exporter token');
  }, 60_000);

  it('has the colours of the system, also when these change', async () => {
    const { page, url } = await openPage(open);
    const ground = () => page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`${url}/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    const dark = await ground();
    await page.emulateMedia({ colorScheme: 'light' });

    await expect.poll(ground).toBe('rgb(250, 250, 250)');
    expect(dark).toBe('rgb(28, 32, 34)');
  }, 60_000);

  it('sends a call with the token that it was given, to this origin alone, and forgets the token', async () => {
    const { page, url, token, appliance, complaints } = await openPage(open);
    await page.goto(`${url}/docs#/system/readSystemVersion`);
    const operation = page.locator('#operations-system-readSystemVersion');
    await operation.getByRole('button', { name: 'Execute' }).waitFor();

    await call(page);
    const refused = await statusOf(page);
    await authorise(page, token);
    await call(page);
    const answered = await until(
      () => statusOf(page),
      (status) => status !== refused,
    );

    expect([refused, answered]).toEqual(['401', '200']);
    expect(appliance.requests.map(({ status, path }) => `${status} ${path}`)).toContain('200 /system/version');
    expect(await operation.locator('.live-responses-table').textContent()).toContain('appliance_version');
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(kept).not.toContain(token);
    await page.reload();
    await operation.getByRole('button', { name: 'Execute' }).waitFor();
    await call(page);
    expect(await statusOf(page)).toBe('401');
  }, 60_000);
});

/** A page to look at a whole gateway. */
async function openPage(open: OpenPage) {
  const { url, tokenOf, appliance } = await givenGateway({ lb: busyWorld() });
  const page = await open();
  return { page, url, token: tokenOf('viewer'), appliance, complaints: watchPage(page, url) };
}

async function authorise(page: Page, token: string): Promise<void> {
  await page.locator('.scheme-container').getByRole('button', { name: 'Authorize' }).click();
  const form = page.locator('.auth-container');
  await form.getByRole('textbox').fill(token);
  await form.getByRole('button', { name: /authorize|apply/i }).click();
  await page.locator('.dialog-ux').getByRole('button', { name: 'Close' }).last().click();
}

async function call(page: Page): Promise<void> {
  const operation = page.locator('#operations-system-readSystemVersion');
  const appliance = operation.locator('tr[data-param-name="appliance"] input');
  await appliance.fill('lb');
  // The page reads the field when it loses the focus, and renders again: a click meanwhile would be
  // lost.
  await appliance.blur();
  await Promise.all([
    page.waitForResponse((response) => response.url().endsWith('/appliances/lb/system/version')),
    // By the keyboard: a click waits until the page stands still, which may take long.
    operation.getByRole('button', { name: 'Execute' }).press('Enter'),
  ]);
}

async function statusOf(page: Page): Promise<string> {
  const cell = page.locator('.live-responses-table tbody .response-col_status').first();
  return ((await cell.textContent()) ?? '').trim();
}
