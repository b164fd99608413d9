import { expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import type { Change } from '../../../src/admin/changes/change.ts';
import { until, untilIs } from '../../support/until.ts';
import { type Entry, givenReloadable } from './given-reloadable.ts';

const alice = makeToken();
const bob = makeToken();
const everybody = ['alice', 'bob'] as const;

/** A change of alice. */
async function givenAsked() {
  const given = await givenReloadable(['a', 'b'], ({ entry }) => configuration([entry('a')], everybody));
  const call = async (token: string, method: string, path: string, body?: object) => {
    const answer = await fetch(`${given.daemon.adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Change;
  };
  const appliance = given.appliance('a');
  const [farm = ''] = appliance.world.farms.keys();
  const path = `/farms/${farm}/actions`;
  const { id, digest } = await call(alice.token, 'POST', '/changes', {
    appliance: 'a',
    operation: 'actOnFarm',
    parameters: { farmname: farm },
    body: { action: 'stop' },
    reason: 'a test',
  });
  return {
    ...given,
    call,
    id,
    approve: () => call(bob.token, 'POST', `/changes/${id}/approve`, { digest }),
    arrived: () =>
      [...given.appliance('a').requests, ...given.appliance('b').requests].filter(
        (each) => each.path === path && each.status === 200,
      ),
  };
}

/** A change that bob has approved, and that waits behind another change. */
async function givenWaiting() {
  const given = await givenAsked();
  const { call, id, approve } = given;
  const appliance = given.appliance('a');
  appliance.fail('POST /system/dns', { kind: 'hang' });
  const first = call(alice.token, 'POST', '/appliances/a/system/dns', { primary: '192.0.2.1' }).catch(() => undefined);
  await untilIs(() => appliance.sleeping, 1);
  return {
    ...given,
    approved: await approve(),
    /** Ends the change before it, and resolves to the change when it is over. */
    async over() {
      appliance.heal();
      await appliance.close();
      await first;
      return await until(
        () => call(alice.token, 'GET', `/changes/${id}`),
        ({ outcome }) => outcome !== null,
      );
    },
  };
}

function configuration(
  appliances: readonly Entry[],
  people: readonly (typeof everybody)[number][],
  ofAlice: object = {},
) {
  const more = { alice: { sha256: alice.sha256, ...ofAlice }, bob: { sha256: bob.sha256 } };
  return {
    appliances,
    admin: {
      listen_address: '127.0.0.1:0',
      journal_file: 'journal.db',
      tokens: people.map((name) => ({ name, role: 'operator', approver: true, ...more[name] })),
    },
  };
}

it.each<readonly [string, (entry: (name: string) => Entry) => Entry, readonly (typeof everybody)[number][], object]>([
  [
    'gives the name of its appliance to another machine',
    (entry) => ({ ...entry('b'), name: 'a' }),
    everybody,
    { code: 'plan_changed' },
  ],
  ['removes its appliance', (entry) => entry('b'), everybody, {}],
  ['removes the token of its approver', (entry) => entry('a'), ['alice'], {}],
])('a reload that %s ends a waiting approved change, and nothing is sent', async (_, applianceOf, people, outcome) => {
  const { approved, over, arrived, write, daemon, entry } = await givenWaiting();

  await write('zlb.yml', configuration([applianceOf(entry)], people));
  const reloaded = await daemon.reload();

  expect(approved.state).toBe('approved');
  expect(reloaded).toHaveProperty('value');
  expect(await over()).toMatchObject({ state: 'failed', outcome });
  expect(arrived()).toEqual([]);
});

it.each([
  ['may not do it any more', { role: 'viewer' }, 'role_too_low'],
  ['has no access to the appliance any more', { appliances: ['b'] }, 'appliance_denied'],
] as const)('a reload before the approval applies to the requester, who %s', async (_, ofAlice, code) => {
  const { approve, arrived, write, daemon, entry } = await givenAsked();

  await write('zlb.yml', configuration([entry('a'), entry('b')], everybody, ofAlice));
  const outcome = await daemon.reload();

  expect(outcome).toHaveProperty('value');
  expect(await approve()).toMatchObject({ code });
  expect(arrived()).toEqual([]);
});
