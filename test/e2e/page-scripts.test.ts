import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { givenBrowser, watchPage } from '../support/browser.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { isThere } from '../support/programs.ts';
import { givenApprovals } from '../integration/changes/given-approvals.ts';

describe.skipIf(!isThere('chromium'))('the scripts of the pages', () => {
  const open = givenBrowser();

  it('keep the status page up to date, find what is typed, and copy the commands of a runbook', async () => {
    const world = busyWorld();
    const { url } = await givenExporter({ 'lb-1': world }, { eager: ['farms'] });
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const complaints = watchPage(page, url);
    await page.goto(url);
    await page.getByText('Farm oldportal is down').first().waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('intranet');
    await page.waitForURL(/q=intranet/);
    await page.locator('main').getByText('intranet').first().waitFor();
    await page.goto(`${url}/runbooks?appliance=lb-1&farm=oldportal`);
    const block = page.locator('#zlbfarmdown ~ pre', { hasText: 'action=start' }).first();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();

    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      'actOnFarm farmname=oldportal action=start',
    );
    expect(complaints).toEqual([]);
  });

  it('let a person sign in to the console on a phone, read a change, and approve it with a reason', async () => {
    const { url, tokenOf, ask, ended, sent } = await givenApprovals();
    const asked = await ask('alice', { reason: 'the list of backends was changed' });
    const page = await open({ viewport: { width: 390, height: 844 } });
    const complaints = watchPage(page, new URL(url).origin);
    await page.goto(`${url}/console`);

    await page.getByLabel('Your token for').fill(tokenOf('bob'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: '1 change waits for a decision' }).waitFor();
    await page.getByRole('link', { name: 'restart-farm farm=shop' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    const shown = await page.locator('#detail').innerText();
    for (const part of ['alice', 'the list of backends was changed', '"action": "restart"', String(asked.json?.digest)])
      expect(shown).toContain(part);
    expect(shown).toMatch(/PUT https:\/\/\S+\/farms\/shop\/actions/);

    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Say why first.').waitFor();
    expect(sent()).toEqual([]);
    await page.getByLabel('Your reason').fill('looked at it');
    await page.getByRole('button', { name: 'Approve' }).click();

    const over = await ended(String(asked.json?.id));
    expect(over).toMatchObject({ state: 'done', decision: { by: 'bob', reason: 'looked at it' } });
    await page.getByText('✓ 1. shop was restarted.').waitFor();
    await page.locator('#standing', { hasText: 'done' }).waitFor();
    expect(sent()).toEqual(['PUT /farms/shop/actions 200']);
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
