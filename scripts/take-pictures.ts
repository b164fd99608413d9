import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { startExporter } from '../bench/exporter.ts';
import { startFleet } from '../bench/fleet.ts';
import { until } from '../test/support/until.ts';

// `npm run pictures`: starts the demonstration as `npm start` does, asks for two changes, and
// photographs its pages for README and docs. Needs Chromium.

const folder = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const program = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const readyWithinMs = 240_000;
const desktop = { width: 1_360, height: 1_020 };
const sites = ['amsterdam', 'berlin', 'lisbon', 'madrid', 'oslo', 'paris', 'vienna'];
const phone = { width: 390, height: 844 };

interface Demonstration {
  readonly url: string;
  readonly adminUrl: string;
  /** First of the person who asks, then of the one who approves. */
  readonly tokens: readonly string[];
  stop(): Promise<unknown>;
}

interface Picture {
  readonly name: string;
  readonly url: string;
  readonly context?: BrowserContextOptions;
  /** Before the shutter: waits, and opens what is to be seen. */
  readonly pose?: (page: Page) => Promise<unknown>;
}

async function startDemonstration(): Promise<Demonstration> {
  const child = spawn(process.execPath, ['src/main.ts', '--web.listen-address=127.0.0.1:0'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found = { url: '', adminUrl: '', tokens: new Array<string>() };
  for await (const line of createInterface({ input: child.stdout })) {
    found.url ||= /^\s+(http:\S+)\/metrics/.exec(line)?.[1] ?? '';
    found.adminUrl ||= /ZLB_ADMIN_URL=(\S+)/.exec(line)?.[1] ?? '';
    found.tokens.push(...(/(?<=ZLB_ADMIN_TOKEN=)\S+/.exec(line) ?? []));
    if (found.url && found.adminUrl && found.tokens.length === 2) break;
  }
  const stop = (): Promise<unknown> => {
    child.kill('SIGTERM');
    return once(child, 'exit');
  };
  return { ...found, stop };
}

/** Photographs the page of fleets at up to seven sites; a few appliances refuse the key. */
async function takeFleet(browser: Browser, count: number): Promise<void> {
  const fleet = await startFleet({ appliances: count, farms: 3, backendsPerFarm: 2 }, 'none');
  const appliances = fleet.entries.map((entry, index) => {
    const site = sites[index % sites.length] ?? '';
    const number = Math.floor(index / sites.length);
    return {
      ...entry,
      name: `lb-${site}-${number + 1}`,
      ...(index % 45 === 1 && { api_key: 'replaced' }),
      labels: { site, pair: `${site}-${Math.floor(number / 2) + 1}` },
    };
  });
  const exporter = await startExporter([process.execPath, 'src/main.ts'], { appliances });
  try {
    await take(browser, { name: `fleet-${count}`, url: exporter.url, pose: isLive });
  } finally {
    await exporter.stop();
    await fleet.stop();
  }
}

const isLive = (page: Page): Promise<void> => page.locator('.live.running').waitFor();

/** Asks for two changes, and carries the first one out; resolves to the id of the second. */
async function askForChanges({ adminUrl, tokens: [token, approver] }: Demonstration): Promise<string> {
  const post = async (path: string, body: unknown, as = token): Promise<{ id: string; digest: string }> => {
    const answer = await fetch(`${adminUrl}/changes${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 202) throw new Error(`the gateway answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string; digest: string };
  };
  const restart = (farm: string, reason: string): object => ({
    appliance: 'lb-madrid',
    recipe: 'restart-farm',
    parameters: { farm },
    reason,
  });
  const first = await post('', restart('db', 'backend 10.20.0.43 was replaced'));
  await post(`/${first.id}/approve`, { digest: first.digest, reason: 'few are connected now' }, approver);
  await pause(3_000);
  return (await post('', restart('shop', 'the new certificate is attached'))).id;
}

function pictures({ url, adminUrl, tokens: [, approver = ''] }: Demonstration, change: string): readonly Picture[] {
  return [
    { name: 'status-light', url, pose: isLive },
    { name: 'status-dark', url, context: { colorScheme: 'dark' }, pose: isLive },
    { name: 'status-phone', url, context: { viewport: phone, deviceScaleFactor: 2, isMobile: true }, pose: isLive },
    {
      name: 'appliance',
      url: `${url}/?appliance=lb-madrid`,
      context: { viewport: { ...desktop, height: 1_240 } },
      pose: async (page) => {
        await isLive(page);
        await page.locator('#farms').evaluate((farms) => farms.scrollIntoView());
        await pause(300);
      },
    },
    {
      name: 'search',
      url,
      context: { viewport: { ...desktop, height: 820 } },
      pose: async (page) => {
        await isLive(page);
        await page.keyboard.press('/');
        await page.keyboard.type('10.20.0.1');
        await page.getByText('for “10.20.0.1”').waitFor();
      },
    },
    {
      name: 'console',
      url: `${adminUrl}/console#${change}`,
      context: { viewport: { ...desktop, height: 1_120 } },
      pose: (page) => signIn(page, approver),
    },
  ];
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Your token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'The plan' }).waitFor();
}

async function take(browser: Browser, { name, url, context, pose }: Picture): Promise<void> {
  const page = await browser.newPage({ viewport: desktop, timezoneId: 'Europe/Madrid', locale: 'en-GB', ...context });
  await page.goto(url);
  await pose?.(page);
  await page.screenshot({ path: `${folder}${name}.png` });
  await page.close();
  console.log(`docs/pictures/${name}.png`);
}

mkdirSync(folder, { recursive: true });
const demonstration = await startDemonstration();
try {
  await until(
    async () => (await fetch(`${demonstration.url}/-/ready`)).ok,
    (isReady) => isReady,
    readyWithinMs,
  );
  // The sandbox of Chromium does not start for root, as in most containers.
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  for (const picture of pictures(demonstration, await askForChanges(demonstration))) await take(browser, picture);
  for (const count of [3, 12, 200]) await takeFleet(browser, count);
  await browser.close();
} finally {
  await demonstration.stop();
}
