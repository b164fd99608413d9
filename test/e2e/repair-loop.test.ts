import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../src/admin/journal/record.ts';
import type { Change } from '../../src/admin/changes/change.ts';
import { startStack } from '../support/given-stack.ts';
import { runExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const missing = ['prometheus', 'prometheus-alertmanager'].filter((name) => !isThere(name));
const alert = 'ZlbFarmNeedsRestart lb-paris-1 www';
const title = 'restart-farm farm=www';
/** The longest wait of the rules in a hurry is 70 s; the machine may be busy. */
const patienceMs = 240_000;

describe.skipIf(missing.length > 0)('the repair of a farm that needs a restart', () => {
  it('starts from an alert, is approved by a second person, and resolves the alert', async () => {
    const people = await givenPeople();
    await repair(people);
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
    /** Waits for a notification about an alert. */
    notified: (status: 'FIRING' | 'RESOLVED', about: string) =>
      until(
        () => stack.stdout().split('\n'),
        (lines) => lines.some((line) => line.includes(status) && line.includes(about)),
        patienceMs,
      ),
    /** Stops the stack, which leaves nothing behind. */
    async leave() {
      stack.stop();
      expect(await stack.ended).toBe(0);
      expect(stack.stdout()).toMatch(/\nStopped\.\n$/);
      expect(stack.stderr()).toBe('');
      expect(stack.leftovers()).toEqual([]);
    },
    changes: async (wanted: string) =>
      (await read<{ changes: Change[] }>('/changes')).changes.filter((each) => each.title === wanted),
    request: (id: string) => read<Change>(`/changes/${id}`),
    records: async (id: string) =>
      (await read<{ records: AuditLine[] }>('/audit?appliance=lb-paris-1&limit=200')).records
        .filter(({ request }) => request === id)
        .toReversed(),
  };
}

/** Lets the alert fire, approves its proposal, and waits for its end. */
async function repair(people: People): Promise<void> {
  const backend = ['farmname=www', 'service=front', 'ip=10.10.10.19', 'port=8090'];
  await people.types('demo', 'lb-paris-1', 'addServiceBackend', ...backend);
  await people.notified('FIRING', alert);
  const [found] = await until(
    () => people.changes(title),
    (all) => all.length > 0,
    patienceMs,
  );
  const proposal = await people.request(found!.id);
  expect(proposal).toMatchObject({
    state: 'proposed',
    requested_by: 'alertmanager',
    alerts: [{ name: 'ZlbFarmNeedsRestart' }],
  });
  expect((await people.records(proposal.id)).filter(({ event }) => event === 'intent')).toEqual([]);

  const { id, digest } = proposal;
  const approved = await people.types('approver', 'changes', 'approve', id, `--digest=${digest}`, '--watch');
  expect(approved.stdout).toContain('✓ 2. www is up.');
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
  await people.notified('RESOLVED', alert);
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
  await people.notified('RESOLVED', 'ZlbCertificateExpiryImminent lb-berlin soon_example_com.pem');

  expect(stdout).toMatch(/✓ \d+\. portal has soon\.example\.com-[\da-f]{12}\.pem/);
  expect(await people.request(id)).toMatchObject({ state: 'done', decision: { by: 'approver' } });
}
