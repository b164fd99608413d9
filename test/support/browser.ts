import { spawnSync } from 'node:child_process';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** Opens a page with cookies and storage of its own, which ends with the test. */
export type OpenPage = (options?: BrowserContextOptions) => Promise<Page>;

/** Starts one Chromium for all tests of a suite. */
export function givenBrowser(): OpenPage {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim();
    // The sandbox of Chromium does not start for root, as in most containers.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 120_000 });
  });
  afterAll(() => browser.close());
  return async (options) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(60_000);
    context.setDefaultNavigationTimeout(60_000);
    onTestFinished(() => context.close());
    return await context.newPage();
  };
}

/**
 * Collects what the browser complains of on a page: errors, warnings, and requests to another
 * origin than this one.
 */
export function watchPage(page: Page, origin: string): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) complaints.push(`asked elsewhere: ${url}`);
  });
  return complaints;
}
