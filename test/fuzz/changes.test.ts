import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import { type Change, isOver } from '../../src/admin/changes/change.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import { byName, card, createWorld } from '../../simulator/world-creation.ts';
import { l4Backend, l4Farm } from '../../simulator/world-parts.ts';
import { adminKey, givenGateway } from '../support/given-gateway.ts';
import { until } from '../support/until.ts';

const farmCount = 8;
const minute = 60_000;

const people = ['alice', 'bob', 'root'] as const;
const tokens = new Map(['alertmanager', ...people].map((name) => [name, makeToken().token]));
const roleOf = (name: string) => (name === 'root' ? 'admin' : name === 'alertmanager' ? 'alertmanager' : 'operator');

const farm = fc.integer({ min: 0, max: farmCount - 1 });
const person = fc.constantFrom(...people);
/** The events, in any order. */
const events = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), by: person, farm }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), by: person, farm, detach: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('fire' as const), farm }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('resolve' as const), farm }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('approve' as const), by: person, pick: fc.nat() }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('deny' as const, 'cancel' as const), by: person, pick: fc.nat() }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        { kind: 'freeze' as const },
        { kind: 'unfreeze' as const },
        { kind: 'restart' as const },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 40 }) }),
    },
  ),
  { minLength: 5, maxLength: 25 },
);
type Event = typeof events extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

async function givenAppliance(): Promise<SimulatedAppliance> {
  const farms = Array.from({ length: farmCount }, (_, number) =>
    l4Farm({
      name: `farm-${number}`,
      vip: '192.0.2.1',
      vport: String(number + 1),
      backends: [l4Backend(0, '198.51.100.1', 80)],
    }),
  );
  return await startSimulatedAppliance({
    world: createWorld({ farms: byName(farms), interfaces: byName([card('eth0', '192.0.2.1')]) }),
    apiKey: adminKey,
  });
}

/** Lives through the events, and to the end of everything that is still open then. */
async function live(history: readonly Event[]) {
  const appliance = await givenAppliance();
  const folder = mkdtempSync(join(tmpdir(), 'zlb-changes-'));
  const clock = { ms: Date.parse('2026-11-24T01:00:00Z') };
  const start = () =>
    givenGateway(
      {},
      {
        target: appliance,
        now: () => clock.ms,
        admin: { journalFile: join(folder, 'journal.db') },
        tokens: [...tokens].map(([name, token]) => ({
          token,
          name,
          person: name,
          role: roleOf(name),
          approver: name !== 'alice' && name !== 'alertmanager',
        })),
      },
    );
  let gateway = await start();
  const call = (as: string, method: string, path: string, json?: unknown, headers = {}) =>
    gateway.call(method, path, { as: tokens.get(as)!, headers, ...(json === undefined ? {} : { json }) });
  const all = async () => (await call('root', 'GET', '/changes')).json?.changes as readonly Change[];
  const notify = (status: 'firing' | 'resolved', number: number) =>
    call('alertmanager', 'POST', '/alerts', {
      version: '4',
      alerts: [
        {
          status,
          startsAt: '2026-11-24T00:00:00Z',
          labels: { alertname: 'ZlbFarmNeedsRestart', appliance: 'lb-1', farm: `farm-${number}` },
        },
      ],
    });

  const happen = async (event: Event): Promise<void> => {
    if (event.kind === 'ask' || event.kind === 'run')
      await call(event.by, 'POST', '/changes', {
        appliance: 'lb-1',
        recipe: 'restart-farm',
        parameters: { farm: `farm-${event.farm}` },
        reason: 'a test',
        ...(event.kind === 'run' && { run: 'now', detach: event.detach }),
      });
    else if (event.kind === 'fire') await notify('firing', event.farm);
    else if (event.kind === 'resolve') await notify('resolved', event.farm);
    else if (event.kind === 'wait') clock.ms += event.minutes * minute;
    else if (event.kind === 'freeze') await call('root', 'PUT', '/freeze', undefined, { 'x-reason': 'a test' });
    else if (event.kind === 'unfreeze') await call('root', 'DELETE', '/freeze');
    else if (event.kind === 'restart') {
      await gateway.close();
      gateway = await start();
    } else if ('pick' in event) {
      const changes = await all();
      const picked = changes[event.pick % changes.length];
      if (picked)
        await call(
          event.by,
          'POST',
          `/changes/${picked.id}/${event.kind}`,
          event.kind === 'approve' ? { digest: picked.digest } : {},
        );
    }
  };

  try {
    for (const event of history) await happen(event);
    await until(all, (changes) => changes.every(({ state }) => !['approved', 'executing'].includes(state)));
    // A stop waits for what is being planned, and the start ends what has waited for too long.
    await happen({ kind: 'restart' });
    clock.ms += 60 * minute;
    await happen({ kind: 'restart' });
    const changes = await until(all, (each) => each.every(({ state }) => isOver(state)));
    const audit = await gateway.audit();
    return {
      changes,
      audit,
      arrived: appliance.requests.filter(({ method, status }) => method === 'PUT' && status === 200),
    };
  } finally {
    await gateway.close();
    await appliance.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

it('changes are executed at most once, never without the approval of another person, and always end', async () => {
  let ended = 0;
  let executed = 0;
  await fc.assert(
    fc.asyncProperty(events, async (history) => {
      const { changes, audit, arrived } = await live(history);

      for (const { id, state, requested_by: asker, decision } of changes) {
        const own = audit.filter(({ request }) => request === id);
        const intents = own.filter(({ event }) => event === 'intent');
        const approvals = own.filter((line) => line.event === 'change' && line.state === 'approved');
        expect(isOver(state), state).toBe(true);
        expect(intents.length).toBeLessThanOrEqual(1);
        expect(approvals.length).toBeLessThanOrEqual(1);
        // A change that ran at once needed nobody else.
        if (intents.length > 0) expect(approvals[0]?.principal === asker).toBe(decision?.what === 'started');
        if (intents.length > 0) expect(decision?.by).toBe(approvals[0]?.principal);
        expect(own.some((line) => line.event === 'change' && line.state === state)).toBe(true);
      }
      const intents = audit.filter(({ event }) => event === 'intent');
      expect(arrived.length).toBeLessThanOrEqual(intents.length);
      ended += changes.length;
      executed += arrived.length;
    }),
    { numRuns: 25 },
  );
  console.log(`${ended} changes ended, ${executed} of them by a call`);
  expect(executed).toBeGreaterThan(5);
}, 300_000);
