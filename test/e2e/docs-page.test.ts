import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../src/appliance/api/table.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { givenBrowser, type OpenPage, watchPage } from '../support/browser.ts';
import { givenGateway } from '../support/given-gateway.ts';
import { isThere } from '../support/programs.ts';

describe.skipIf(!isThere('chromium'))('the page of all operations in a real browser', () => {
  const open = givenBrowser();

  it('finds an operation by words, and shows its parameters and responses', async () => {
    const { page } = await givenPage(open);

    await page.keyboard.press('/');
    await page.keyboard.type('put actions restart');
    await page
      .getByRole('status')
      .getByText(/^1 of \d+ operations$/)
      .waitFor();
    await page.getByText('start, stop or restart a farm').click();

    expect(new URL(page.url()).hash).toBe('#actOnFarm');
    const opened = page.locator('#actOnFarm');
    expect(await opened.getByLabel('X-Dry-Run').isChecked(), 'a try is a dry run').toBe(true);
    await opened.getByText('Answers', { exact: true }).click();
    expect(await opened.innerText()).toContain('the owner of the key that the gateway uses may not do this');
  });

  it('shows all operations of the table, and opens the one in the URL', async () => {
    const { page, url } = await givenPage(open, '#listFarms');

    await page.locator('#listFarms[open]').getByText('Answers', { exact: true }).click();
    await page.locator('#listFarms').getByText('application/json').click();

    expect(await page.locator('details.operation').count()).toBeGreaterThan(Object.keys(endpoints).length);
    expect(await page.locator('#listFarms pre').innerText()).toContain('farmname');
    await page.goto(`${url}/docs#askForChange`);
    await page.locator('#askForChange[open]').waitFor();
  });

  it('tries an operation with a token, and plans a change before it sends one', async () => {
    const { page, metrics, tokenOf, complaints } = await givenPage(open, '#actOnFarm');
    const sent = async () => (await metrics()).match(/^zlb_admin_calls_total\{.*/gm) ?? [];
    const form = page.locator('#actOnFarm form');
    const send = async (): Promise<string> => {
      await form.getByRole('button', { name: 'Send' }).click();
      await form
        .getByRole('status')
        .getByText(/: \d{3} after/)
        .waitFor();
      return await form.getByRole('status').innerText();
    };
    await form.getByLabel('appliance').fill('lb-1');
    await form.getByLabel('farmname').fill('shop');
    await form.getByLabel('X-Reason').fill('größer 100 %');
    await form.getByLabel('Body').fill('{"action":"stop"}');

    expect(await send()).toContain(': 401');
    await page.getByLabel('Your token').fill(tokenOf('admin'));
    expect(await send()).toContain(': 200');
    expect(await sent()).toEqual([]);
    await form.getByLabel('X-Dry-Run').uncheck();
    expect(await send()).toContain('PUT /appliances/lb-1/farms/shop/actions: 200');
    expect(await sent()).toHaveLength(1);

    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).toBe(
      '[{},{},""]',
    );
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  });

  it.each([
    ['light', 390],
    ['dark', 390],
    ['light', 1_360],
    ['dark', 1_360],
  ] as const)('has no axe violations, and fits the screen: %s, %i wide', async (colorScheme, width) => {
    const { page } = await givenPage(open, '#deleteFarm', { colorScheme, viewport: { width, height: 900 } });
    await page.locator('#deleteFarm').getByText('Answers', { exact: true }).click();
    await page.locator('#askForChange > summary').click();
    await page.locator('#askForChange').getByText('Shape of the body').click();

    await page.evaluate(axe.source);
    const violations = await page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 300)]))`,
    );

    expect(violations).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});

async function givenPage(open: OpenPage, hash = '', context: Parameters<OpenPage>[0] = {}) {
  const gateway = await givenGateway({ 'lb-1': busyWorld() });
  const page: Page = await open(context);
  const complaints = watchPage(page, gateway.url);
  await page.goto(`${gateway.url}/docs${hash}`);
  await page
    .getByRole('status')
    .getByText(/operations$/)
    .waitFor();
  return { ...gateway, page, complaints };
}
