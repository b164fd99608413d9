import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { givenBrowser, type OpenPage, watchPage } from '../support/browser.ts';
import { givenApprovals } from '../integration/changes/given-approvals.ts';
import { isThere } from '../support/programs.ts';

const phone = { width: 390, height: 844 };
const desktop = { width: 1_280, height: 900 };
const harm = `<img src=x onerror="globalThis.harmed=1">`;

describe.skipIf(!isThere('chromium'))('the console in a real browser', () => {
  const open = givenBrowser();

  it('is usable with the keyboard alone, and announces events to a screen reader', async () => {
    const { url, tokenOf, ask, sent } = await givenChanges();
    await ask();
    const { page } = await openConsole(open, url, {});
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    const tabTo = async (name: string) => {
      for (let turn = 0; !(await focused()).includes(name); turn += 1) {
        if (turn > 30) throw new Error(`the keyboard does not reach ${name}`);
        await page.keyboard.press('Tab');
      }
    };

    await page.keyboard.type(tokenOf('bob'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 change waits' }).waitFor();
    expect(await focused()).toBe('1 change waits for a decision');
    await tabTo('restart-farm farm=shop');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await focused()).toBe('restart-farm farm=shop');
    for (let turn = 0; (await page.evaluate('document.activeElement.localName')) !== 'textarea'; turn += 1) {
      expect(turn).toBeLessThan(30);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('looked at it');
    await tabTo('Approve');
    await page.keyboard.press('Enter');

    await page.getByText('✓ 1. shop was restarted.').waitFor();
    expect(await focused()).toBe('restart-farm farm=shop');
    expect(await page.getByRole('status').textContent()).toMatch(/restart-farm farm=shop on lb-1: done/);
    expect(sent()).toEqual(['PUT /farms/shop/actions 200']);
  });

  it('opens the proposal of the alert from a notification link, once it exists', async () => {
    const { url, tokenOf, call, read, sent } = await givenChanges();
    const tell = (farm: string) =>
      call('alertmanager', 'POST', '/alerts', {
        version: '4',
        alerts: [
          {
            status: 'firing',
            labels: { alertname: 'ZlbFarmNeedsRestart', appliance: 'lb-1', farm },
            startsAt: '2026-11-24T01:00:00Z',
          },
        ],
      });
    const link = '#alert=ZlbFarmNeedsRestart&appliance=lb-1&object=shop';
    const { page, complaints } = await openConsole(open, `${url}/console${link}`, { viewport: phone });
    await page.getByText('Sign in to see the repair of ZlbFarmNeedsRestart, shop, lb-1.').waitFor();
    await signIn(page, tokenOf('bob'));
    await page.getByText('No repair of ZlbFarmNeedsRestart, shop, lb-1 waits').waitFor();

    await tell('blog');
    await tell('shop');

    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await page.locator('#detail').innerText()).toContain('restart-farm farm=shop');
    expect(new URL(page.url()).hash).toMatch(/^#ch-/);
    await page.getByLabel('Your reason').fill('not before tonight');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.locator('#became', { hasText: 'denied by bob' }).waitFor();
    const id = new URL(page.url()).hash.slice(1);
    expect(await read(id)).toMatchObject({ state: 'denied', decision: { by: 'bob', reason: 'not before tonight' } });
    expect(sent()).toEqual([]);

    await page.evaluate(`location.hash = ${JSON.stringify(link)}`);
    await page.locator('#awaited', { hasText: 'The last one: restart-farm farm=shop denied, denied by bob' }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(link.replace('shop', 'blog'))}`);
    await page.locator('#awaited', { hasText: /It cannot be proposed\. .*blog/ }).waitFor();
    await page.evaluate(`location.hash = '#alert=%3Cimg%20src%3Dx%3E&appliance=lb-1'`);
    await page.locator('#awaited').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No change waits' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows nothing more to a token that has become invalid', async () => {
    const { url, page } = await givenDetail(open, { reason: 'a reason of our own' });
    await page.getByText('a reason of our own').waitFor();

    const refused = await fetch(`${url}/whoami`, { headers: { authorization: 'Bearer zlb_wrong' } });
    const body = await refused.text();
    await page.route('**/whoami', (route) => route.fulfill({ status: 401, body }));

    await page.getByText('The token is not known.').waitFor();
    expect(await page.content()).not.toContain('a reason of our own');
  });

  it('shows a changed plan, and asks for consent again', async () => {
    const { sent, world, digest, page } = await givenDetail(open);
    await page.getByLabel('Your reason').fill('looked at it');

    world.farms.get('shop')!.running = false;
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('The plan has changed.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await page.locator('.digest').textContent()).not.toContain(digest);
    expect(sent()).toEqual([]);

    await page.getByRole('button', { name: 'I have read the new plan' }).click();
    expect(await page.getByLabel('Your reason').inputValue()).toBe('looked at it');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('✓ 1. shop was restarted.').waitFor();
    expect(sent()).toEqual(['PUT /farms/shop/actions 200']);
  });

  it('keeps its data, with its age, while the gateway does not respond', async () => {
    const { page } = await givenDetail(open);
    await page.getByLabel('Your reason').fill('looked at it');

    await page.route('**/changes', (route) => route.abort());
    await page.getByRole('alert').filter({ hasText: 'No response from the gateway since' }).waitFor();
    expect(await page.locator('#live').textContent()).toMatch(/\d+ s old/);
    expect(await page.locator('#detail').textContent()).toContain('/farms/shop/actions');
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);

    await page.unroute('**/changes');
    const problem = { status: 503, code: 'busy', title: 'Too many requests', detail: 'Busy.', remedy: 'Wait.' };
    const failed = page.waitForResponse('**/changes');
    await page.route('**/changes', (route) => route.fulfill({ status: 503, json: problem }));
    await failed;
    expect(await page.locator('#detail').textContent()).toContain('/farms/shop/actions');

    await page.unroute('**/changes');
    await page.locator('#alarm').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Your reason').inputValue()).toBe('looked at it');
    expect(await page.getByRole('button', { name: 'Approve' }).isEnabled()).toBe(true);
  });

  it('says that it is unknown whether an approval arrived when its response is lost', async () => {
    const { page } = await givenDetail(open);
    await page.route('**/approve', (route) => route.abort());
    await page.getByLabel('Your reason').fill('looked at it');
    await page.getByRole('button', { name: 'Approve' }).click();

    await page.getByText('It is not known whether it received the request.').waitFor();
  });

  it('shows markup and hidden characters of an appliance as text', async () => {
    const { url, tokenOf, ask, world } = await givenChanges();
    world.farms.get('shop')!.vip = `${harm} \u202egnorw\u{e0041}\u3164\u034f si lla`;
    const { id } = await ask({ force: true, reason: `${harm} for a reason` });
    const { page, complaints } = await openConsole(open, `${url}/console#${id}`, {});

    await signIn(page, tokenOf('bob'));
    await page.getByText(`Farm shop (https) at ${harm}`).waitFor();
    await page.locator('main').hover();

    const shown = await page.locator('#detail').textContent();
    expect(shown).toContain(`${harm} for a reason`);
    expect(shown).toContain(String.raw` \u202egnorw\ue0041\u3164\u034f si lla`);
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.evaluate('globalThis.harmed')).toBe(undefined);
    expect(complaints).toEqual([]);
  });

  it('keeps the token only in memory, and forgets it with everything that came with it', async () => {
    const { tokenOf, page, complaints } = await givenDetail(open, { reason: 'a reason of our own' });
    await page.getByText('a reason of our own').waitFor();

    const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state])';
    expect(await page.evaluate(kept)).not.toContain(tokenOf('bob'));
    expect(await page.content()).not.toContain(tokenOf('bob'));
    expect(await page.getByLabel('Your token for').inputValue()).toBe('');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('the token is forgotten').waitFor();
    await page.getByLabel('Your token for').press('Control+z');
    expect(await page.getByLabel('Your token for').inputValue()).toBe('');
    const left = await page.content();
    for (const secret of [tokenOf('bob'), 'a reason of our own', '/farms/shop', 'restart-farm', 'alice'])
      expect(left).not.toContain(secret);
    await page.reload();
    await page.getByLabel('Your token for').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows the changes of the token that was entered last, however late responses for another one are', async () => {
    const { url, tokenOf } = await givenChanges();
    const { page } = await openConsole(open, url, {});
    await page.route('**/whoami', (route) => {
      if (!route.request().headers()['authorization']?.includes(tokenOf('bob'))) return route.continue();
      return undefined;
    });
    const givenUp = page.waitForEvent('requestfailed');
    await signIn(page, tokenOf('bob'));
    await signIn(page, tokenOf('carol'));

    await page.getByText('You are carol').waitFor();
    expect(await (await givenUp).headerValue('authorization')).toBe(`Bearer ${tokenOf('bob')}`);
    expect(await page.locator('#token-refused').textContent()).toBe('');
    expect(await page.locator('#summary').textContent()).toContain('You are carol');
  });

  it('cannot be redirected to another change by the page that opened it', async () => {
    const { url } = await givenChanges();
    const { page } = await openConsole(open, url, {});
    const harmful = 'http://harmful.example/';
    await page.route(harmful, (route) => route.fulfill({ contentType: 'text/html', body: '<p>Win a prize' }));
    await page.goto(harmful);
    const opened = page.waitForEvent('popup');
    await page.evaluate(`globalThis.other = open(${JSON.stringify(`${url}/console`)}), undefined`);
    const popup = await opened;
    await popup.getByLabel('Your token for').waitFor();

    expect(await popup.evaluate('opener')).toBe(null);
    expect(await page.evaluate('other.closed')).toBe(true);
  });

  it('explains an invalid token, and a link to something that is gone', async () => {
    const { url, tokenOf } = await givenChanges();
    const { page } = await openConsole(open, `${url}/console#ch-aaaaaaaaaa`, {});

    await signIn(page, 'zlb_wrong');
    await page.getByText('Type or paste the whole token again.').waitFor();
    await signIn(page, 'schlüssel');
    await page.getByText('That is not a token').waitFor();
    await signIn(page, tokenOf('bob'));
    await page.getByText('There is no such change').waitFor();
  });

  it.each([
    ['light', phone],
    ['dark', desktop],
  ] as const)('has no axe violations, and fits the screen: %s, %o', async (colorScheme, viewport) => {
    const { url, tokenOf, ask, call, ended } = await givenChanges();
    const { id: done, digest } = await ask({ parameters: { farm: 'db' } });
    await call('bob', 'POST', `/changes/${done}/approve`, { digest, reason: 'a test' });
    await ended(done);
    const { id } = await ask({ reason: 'x'.repeat(400) });
    const { page, complaints } = await openConsole(open, url, { viewport, colorScheme });
    expect(await complaintsOfAxe(page)).toEqual([]);
    await signIn(page, tokenOf('bob'));

    for (const hash of ['', id, done]) {
      await page.goto(`${url}/console#${hash}`);
      await page.getByRole('heading', { name: hash === '' ? 'Lately' : 'The plan' }).waitFor();
      for (const summary of await page.locator('summary').all()) await summary.click();
      expect(await complaintsOfAxe(page), hash).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${hash} fits`).toBe(true);
    }
    expect(complaints).toEqual([]);
  });
});

/** A gateway with people; alice asks for a restart of the farm `shop`, or for something else. */
async function givenChanges() {
  const given = await givenApprovals();
  return {
    ...given,
    world: given.appliance.world,
    async ask(asked: object = {}) {
      const { status, json, text } = await given.ask('alice', asked);
      expect(status, text).toBe(202);
      return { id: String(json?.id), digest: String(json?.digest) };
    },
  };
}

/** The console at a URL, or that of a gateway. */
async function openConsole(open: OpenPage, url: string, options: BrowserContextOptions) {
  const { origin, hash } = new URL(url);
  const page = await open({ viewport: desktop, ...options });
  page.setDefaultTimeout(15_000);
  const complaints = watchPage(page, origin);
  await page.goto(`${origin}/console${hash}`);
  return { page, complaints };
}

/** The console of bob, who looks at a request of alice. */
async function givenDetail(open: OpenPage, asked: object = {}) {
  const given = await givenChanges();
  const request = await given.ask(asked);
  const opened = await openConsole(open, `${given.url}/console#${request.id}`, {});
  await signIn(opened.page, given.tokenOf('bob'));
  return { ...given, ...request, ...opened };
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Your token for').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function complaintsOfAxe(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<unknown[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html.slice(0, 300) + failureSummary)]))`,
  );
}
