import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../src/admin/journal/record.ts';
import type { Change } from '../../src/admin/changes/change.ts';
import { givenBrowser, type OpenPage } from '../support/browser.ts';
import { startStack } from '../support/given-stack.ts';
import { runExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = ['prometheus', 'prometheus-alertmanager', 'chromium'].filter((name) => !isThere(name));
const alert = 'ZlbFarmNeedsRestart lb-paris-1 www';
const title = 'restart-farm farm=www';
/** The longest wait of the rules in a hurry is 70 s; the machine may be busy. */
const patienceMs = 240_000;

describe.skipIf(missing.length > 0)('from a farm that needs a restart to its repair', () => {
  const open = givenBrowser();

  it('an alert proposes it, a second person approves it on the command line or a phone, and the alert ends', async () => {
    const people = await givenPeople();

    await repair(people, async ({ id, digest }) => {
      const approved = await people.types('approver', 'changes', 'approve', id, `--digest=${digest}`, '--watch');
      expect(approved.stdout).toContain('✓ 2. www is up.');
    });
    await repair(people, async (_, notification) => {
      await approveByLink(open, notification, people);
    });
    await deliver(people);

    await people.leave();
  }, 900_000);
});

type People = Awaited<ReturnType<typeof givenPeople>>;

/** The stack, and the two people whose tokens it prints. */
async function givenPeople() {
  const stack = await startStack();
  const printed = await stack.started();
  const [, url = ''] = /ZLB_ADMIN_URL=(\S+)/.exec(printed) ?? [];
  const [demo = '', approver = ''] = [...printed.matchAll(/ZLB_ADMIN_TOKEN=(\S+)/g)].map(([, token]) => token ?? '');
  const tokens = { demo, approver };
  // That of Alertmanager is in its file alone.
  expect(printed.match(/zlb_[\w-]{20,}/g)).toEqual([demo, approver]);
  const read = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${approver}` } });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Answer;
  };
  return {
    url,
    tokens,
    /** Types `zlb-exporter admin …`, which has to succeed. */
    async types(who: keyof typeof tokens, ...words: readonly string[]) {
      const credentials = { ZLB_ADMIN_URL: url, ZLB_ADMIN_TOKEN: tokens[who] };
      const typed = await runExporter(['admin', ...words, '--reason=TICKET-42', '--yes'], credentials);
      expect(typed.code, typed.stdout + typed.stderr).toBe(0);
      return typed;
    },
    /** Waits for the next notification about an alert. */
    async notified(status: 'FIRING' | 'RESOLVED', before: number, about = alert): Promise<string> {
      const lines = () =>
        stack
          .stdout()
          .split('\n')
          .filter((line) => line.includes(status) && line.includes(about));
      const seen = await until(lines, ({ length }) => length > before, patienceMs);
      return seen[before] ?? '';
    },
    /** Stops the stack, which leaves nothing behind. */
    async leave() {
      stack.stop();
      expect(await stack.ended).toBe(0);
      expect(stack.stdout()).toMatch(/\nStopped\.\n$/);
      expect(stack.stderr()).toBe('');
      expect(stack.leftovers()).toEqual([]);
    },
    changes: async (wanted = title) =>
      (await read<{ changes: Change[] }>('/changes')).changes.filter((each) => each.title === wanted),
    request: (id: string) => read<Change>(`/changes/${id}`),
    records: async (id: string) =>
      (await read<{ records: AuditLine[] }>('/audit?appliance=lb-paris-1&limit=200')).records
        .filter(({ request }) => request === id)
        .toReversed(),
  };
}

/** Lets the alert fire, decides on its proposal, and waits for its end. */
async function repair(
  people: People,
  approve: (proposal: Change, notification: string) => Promise<unknown>,
): Promise<void> {
  const before = (await people.changes()).length;
  const port = 8_090 + before;
  await people.types(
    'demo',
    'lb-paris-1',
    'addServiceBackend',
    'farmname=www',
    'service=front',
    'ip=10.10.10.19',
    `port=${port}`,
  );
  const [fired, [found]] = await Promise.all([
    people.notified('FIRING', before),
    until(
      () => people.changes(),
      (all) => all.length > before,
      patienceMs,
    ),
  ]);
  const proposal = await people.request(found!.id);
  expect(proposal).toMatchObject({
    state: 'proposed',
    requested_by: 'alertmanager',
    alert: { name: 'ZlbFarmNeedsRestart' },
  });
  expect((await people.records(proposal.id)).filter(({ event }) => event === 'intent')).toEqual([]);

  await approve(proposal, fired);

  const over = await until(
    () => people.request(proposal.id),
    ({ outcome }) => outcome !== null,
    patienceMs,
  );
  expect(over).toMatchObject({ state: 'done', decision: { by: 'approver' } });
  const records = await people.records(proposal.id);
  const calls = records.filter(({ event }) => event === 'intent');
  expect(calls).toMatchObject([
    { principal: 'approver', requested_by: 'alertmanager', operation: 'actOnFarm', body: { action: 'restart' } },
  ]);
  await people.notified('RESOLVED', before);
}

/**
 * Approves the delivery of a renewed certificate: the stack has one in its folder, and an alert has
 * proposed it since its start.
 */
async function deliver(people: People): Promise<void> {
  const wanted = 'deliver certificate=soon_example_com.pem';
  const [proposal] = await until(
    () => people.changes(wanted),
    (all) => all.length > 0,
    patienceMs,
  );
  const { id, digest } = proposal!;

  const { stdout } = await people.types('approver', 'changes', 'approve', id, `--digest=${digest}`, '--watch');
  await people.notified('RESOLVED', 0, 'ZlbCertificateExpiryImminent lb-berlin soon_example_com.pem');

  expect(stdout).toMatch(/✓ \d+\. portal has soon\.example\.com-[\da-f]{12}\.pem/);
  expect(await people.request(id)).toMatchObject({ state: 'done', decision: { by: 'approver' } });
}

/** Approves with nothing but a notification and a token. */
async function approveByLink(open: OpenPage, notification: string, { tokens }: People): Promise<void> {
  const page = await open({ viewport: { width: 390, height: 844 } });
  page.setDefaultTimeout(60_000);
  await page.goto(/Repair: (\S+)/.exec(notification)?.[1] ?? notification);
  await page.getByLabel('Your token for').fill(tokens.approver);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'The plan' }).waitFor();
  expect(await page.locator('#detail').innerText()).toContain('ZlbFarmNeedsRestart');
  await page.getByLabel('Your reason').fill('looked at it');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('✓ 2. www is up.').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}
