import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPrincipals } from '../../../../src/admin/policy/principal.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { recipes } from '../../../../src/admin/recipes/recipes.ts';
import type { AlertSource, Change } from '../../../../src/admin/changes/change.ts';
import { Proposals } from '../../../../src/admin/changes/proposals.ts';
import { fingerprintOf, keyOfTask, ruleFor, repairRules } from '../../../../src/admin/changes/repairs.ts';
import { givenEntry } from '../../../support/given-principal.ts';
import { alertNames } from '../../../support/shipped-rules.ts';
import { until } from '../../../support/until.ts';
import { givenChange } from './given-change.ts';

const since = '2026-11-24T01:00:00Z';
const needsRestart = { alertname: 'ZlbFarmNeedsRestart', appliance: 'lb-1', farm: 'shop' };

const proposal = givenChange({
  state: 'proposed',
  requested_by: 'alertmanager',
  alerts: [{ name: needsRestart.alertname, summary: null, since }],
});

/** Proposals for the alerts that an Alertmanager sends, beside the changes that there are. */
function givenProposals(changes: readonly Change[], appliances = ['lb-1'], { refuses = false } = {}) {
  const principals = createPrincipals([givenEntry('token', { name: 'alertmanager', role: 'alertmanager' })], () => 0);
  const found = principals.identify('token');
  if (!found || !('principal' in found)) throw new Error('the token is in force');
  const { signal } = new AbortController();
  const sender = { principal: found.principal, token: new Secret('token'), address: '192.0.2.7', signal };
  const all = changes.map((change) => ({ change, firingAlerts: [] as readonly AlertSource[] }));
  const asked: string[] = [];
  const planned = Promise.withResolvers<void>();
  let suppressed = 0;
  const proposals = new Proposals({
    changes: {
      get all() {
        return all;
      },
      async propose({ appliance, task: { params: parameters }, alerts }) {
        if (refuses) throw new AdminProblem('upstream_unreachable', { detail: 'It does not answer.', remedy: '-' });
        await planned.promise;
        const change = { ...proposal, id: `ch-${all.length}`, appliance, parameters };
        asked.push(appliance);
        all.push({ change, firingAlerts: alerts });
        return change;
      },
      setAlerts: () => Promise.resolve(),
    },
    recipes: () => recipes,
    appliances: new Map(appliances.map((name) => [name, undefined])),
    principals,
    metrics: {
      countChangeEnd: () => {
        suppressed += 1;
      },
    },
    recorder: { redact: (text = '') => text },
    log: pino({ level: 'silent' }),
  });
  return {
    tell: (alerts: readonly Record<string, string>[]) =>
      proposals.accept(
        { version: '4', alerts: alerts.map((labels) => ({ status: 'firing', labels, startsAt: since })) },
        sender,
      ),
    /** Lets everything be planned, and resolves to the appliances of all proposals. */
    async asked() {
      planned.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await proposals.close();
      return asked;
    },
    suppressed: () => suppressed,
    notProposed: () => proposals.notProposed({ approver: true, covers: () => true }),
  };
}

const outcome = (code: string | null, sent: boolean) => ({ outcome: { at: since, lines: [], code, sent } });
const decidedBy = (by: string, what: 'denied' | 'cancelled' | 'withdrawn') => ({
  decision: { by, what, reason: null, at: since },
});

const { decision: denial } = decidedBy('bob', 'denied');

it.each<readonly [string, boolean, Partial<Change>]>([
  ['nobody approved in time', true, { state: 'expired' }],
  ['the exporter cancelled', true, { state: 'cancelled', ...decidedBy('-', 'cancelled') }],
  ['a person cancelled', false, { state: 'cancelled', ...decidedBy('alice', 'cancelled') }],
  ['a person denied', false, { state: 'denied', ...decidedBy('bob', 'denied') }],
  ['was not sent, as the appliance was busy', true, { state: 'failed', ...outcome('busy', false) }],
  ['was not sent, as changes were frozen', true, { state: 'failed', ...outcome('frozen', false) }],
  ['was not sent, as the exporter was stopped', true, { state: 'failed', ...outcome(null, false) }],
  ['was sent, and failed', false, { state: 'failed', ...outcome(null, true) }],
  ['may have been carried out', false, { state: 'uncertain', ...outcome(null, true) }],
  ['was carried out', false, { state: 'done', ...outcome(null, true) }],
])('an alert whose repair %s is proposed again: %s', async (_, isAgain, ended) => {
  const { tell, asked } = givenProposals([{ ...proposal, ...ended }]);

  const told = await tell([needsRestart]);

  expect(told).toEqual({ proposed: 1, withdrawn: 0, ignored: 0 });
  expect(await asked()).toEqual(isAgain ? ['lb-1'] : []);
});

it.each<readonly [string, boolean, Partial<Change>, Readonly<Record<string, string>>]>([
  ['denied after it began', false, { state: 'denied', ...decidedBy('bob', 'denied') }, needsRestart],
  [
    'denied before it began',
    true,
    { state: 'denied', decision: { ...denial, at: '2026-11-24T00:59:59.999Z' } },
    needsRestart,
  ],
  [
    'denied for other labels',
    true,
    { state: 'denied', ...decidedBy('bob', 'denied') },
    { ...needsRestart, status: 'down' },
  ],
  [
    'withdrawn when the other sender saw its end',
    true,
    { state: 'withdrawn', ...decidedBy('-', 'withdrawn') },
    needsRestart,
  ],
])(
  'an alert that a second sender dates differently is proposed again if it was %s: %s',
  async (_, isAgain, ended, labels) => {
    const alert = { name: needsRestart.alertname, summary: null, since: '2026-11-24T00:59:30Z' };
    const { tell, asked } = givenProposals([
      { ...proposal, alerts: [{ ...alert, fingerprint: fingerprintOf(needsRestart) }], ...ended },
    ]);

    await tell([labels]);

    expect(await asked()).toEqual(isAgain ? ['lb-1'] : []);
  },
);

it.each<readonly [string, Readonly<Record<string, string>>]>([
  ['an unknown appliance', { ...needsRestart, appliance: 'lb-9' }],
  ['an alert without a repair', { ...needsRestart, alertname: 'ZlbSaturated' }],
  ['a name of every object', { ...needsRestart, alertname: '__proto__' }],
  ['a farm that runs without backends', { ...needsRestart, alertname: 'ZlbFarmDown', status: 'critical' }],
  ['a delivery without a folder', { alertname: 'ZlbCertificateExpirySoon', appliance: 'lb-1', file: 'old.pem' }],
  ['a served certificate, of which no file is known', { alertname: 'ZlbCertificateExpirySoon', appliance: 'lb-1' }],
  ['an alert without its labels', { alertname: 'ZlbFarmNeedsRestart', appliance: 'lb-1' }],
])('an alert is ignored: %s', async (_, labels) => {
  const { tell, asked } = givenProposals([]);

  expect(await tell([labels])).toEqual({ proposed: 0, withdrawn: 0, ignored: 1 });
  expect(await asked()).toEqual([]);
});

it('the table of repairs names only alerts of the rules', () => {
  expect(Object.keys(repairRules).filter((name) => !alertNames.includes(name))).toEqual([]);
});

it('each of 25 appliances has at most five proposals, even when all alerts arrive at once', async () => {
  const appliances = Array.from({ length: 25 }, (_, at) => `lb-${at}`);
  const { tell, asked, suppressed } = givenProposals([], appliances);
  const alerts = appliances.flatMap((appliance) =>
    Array.from({ length: 6 }, (_, farm) => ({ ...needsRestart, appliance, farm: `farm-${farm}` })),
  );

  expect(await tell(alerts)).toEqual({ proposed: 125, withdrawn: 0, ignored: 25 });
  expect(suppressed()).toBe(25);
  const proposed = await asked();
  expect(appliances.map((name) => proposed.filter((each) => each === name).length)).toEqual(appliances.map(() => 5));
});

it.each([
  ['down', 'restart-farm'],
  ['silent', 'restart-farm'],
  ['critical', undefined],
])('ZlbFarmDown of a farm that is %s is repaired by %s', (status, recipe) => {
  expect(ruleFor({ alertname: 'ZlbFarmDown', farm: 'shop', status })?.recipe).toBe(recipe);
});

it('at most ten plans a minute are attempted for an appliance, even if none succeeds', async () => {
  const { tell, suppressed, notProposed } = givenProposals([], ['lb-1'], { refuses: true });
  const repair = (farm: number) => ({ ...needsRestart, farm: `farm-${farm}` });

  for (let farm = 1; farm <= 11; farm += 1) {
    await tell([repair(farm)]);
    await until(notProposed, (refused) => refused.length === Math.min(farm, 10));
  }

  expect(suppressed()).toBe(1);
});

it('the newest hundred repairs that cannot be planned are listed, with the reason', async () => {
  const appliances = Array.from({ length: 21 }, (_, at) => `lb-${at}`);
  const { tell, notProposed } = givenProposals([], appliances, { refuses: true });

  for (const appliance of appliances)
    await tell(['a', 'b', 'c', 'd', 'e'].map((farm) => ({ ...needsRestart, appliance, farm })));
  await until(
    notProposed,
    (refused) => refused.at(-1)?.parameters.farm === 'e' && refused.at(-1)?.appliance === 'lb-20',
  );

  expect(notProposed()).toHaveLength(100);
});

it('many unplannable repairs do not evict those of an appliance with few', async () => {
  const many = Array.from({ length: 12 }, (_, at) => `lb-${at}`);
  const { tell, notProposed } = givenProposals([], ['quiet', ...many], { refuses: true });
  const refuse = async (appliance: string, farms: readonly string[]) => {
    await tell(farms.map((farm) => ({ ...needsRestart, appliance, farm })));
    await until(
      () => notProposed().at(-1),
      (newest) => newest?.appliance === appliance && newest.parameters.farm === farms.at(-1),
    );
  };

  await refuse('quiet', ['a']);
  for (const appliance of many) for (const farms of ['abcde', 'fghij']) await refuse(appliance, [...farms]);

  expect(notProposed()).toHaveLength(100);
  expect(notProposed()[0]).toMatchObject({ appliance: 'quiet' });
});

it.each([
  ['the parameters in another order', 'lb-1', 'drain', { backend: '1', farm: 'shop' }, true],
  ['another value', 'lb-1', 'drain', { farm: 'shop', backend: '2' }, false],
  ['a parameter less', 'lb-1', 'drain', { farm: 'shop' }, false],
  ['another recipe', 'lb-1', 'restart-farm', { farm: 'shop', backend: '1' }, false],
  ['another appliance', 'lb-2', 'drain', { farm: 'shop', backend: '1' }, false],
])('a repair is compared with one that has %s', (_, appliance, recipe, parameters, isSame) => {
  const key = keyOfTask('lb-1', 'drain', { farm: 'shop', backend: '1' });

  expect(keyOfTask(appliance, recipe, parameters) === key).toBe(isSame);
});

it('each change is parsed once for the comparison with thousands of alerts', async () => {
  let reads = 0;
  const changes = Array.from(
    { length: 100 },
    (_, index): Change => ({
      ...proposal,
      ...decidedBy('bob', 'denied'),
      state: 'denied',
      get parameters() {
        reads += 1;
        return { farm: `farm-${index}` };
      },
    }),
  );
  const { tell } = givenProposals(changes);

  await tell(Array.from({ length: 1_000 }, (_, index) => ({ ...needsRestart, index: String(index) })));

  expect(reads).toBe(100);
});
