import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import type { World } from '../../../simulator/world.ts';
import { type GatewayAnswer, givenGateway, type GivenOptions } from '../../support/given-gateway.ts';
import { untilAllRead } from '../../support/all-read.ts';
import { until } from '../../support/until.ts';

/** The tokens of the people here, and of an Alertmanager. */
const people = {
  alice: { role: 'operator', approver: true },
  bob: { role: 'operator', approver: true },
  'alice-phone': { role: 'operator', approver: true, person: 'alice' },
  carol: { role: 'operator' },
  dave: { role: 'viewer', approver: true },
  root: { role: 'admin', approver: true },
  eve: { role: 'admin', breakGlass: true },
  alertmanager: { role: 'alertmanager' },
  'bobs-alerts': { role: 'alertmanager', person: 'bob' },
} as const;
type Person = keyof typeof people;

/** A gateway where destructive calls need approval, and functions to ask and decide. */
export async function givenApprovals(options: GivenOptions = {}, others: Readonly<Record<string, World>> = {}) {
  const tokens = Object.keys(people).map((name) => [name as Person, makeToken().token] as const);
  const tokenOf = (name: Person) => new Map(tokens).get(name)!;
  const gateway = await givenGateway(
    { 'lb-1': busyWorld(), ...others },
    {
      ...options,
      tokens: tokens.map(([name, token]) => ({ token, name, person: name, ...people[name] })),
      approvals: { requiredFor: ['destructive'], ...options.approvals },
    },
  );
  const call = (as: Person, method: string, path: string, json?: unknown, headers = {}): Promise<GatewayAnswer> =>
    gateway.call(method, path, { as: tokenOf(as), headers, ...(json === undefined ? {} : { json }) });
  const ask = (as: Person, asked: object = {}) =>
    call(as, 'POST', '/changes', {
      appliance: 'lb-1',
      recipe: 'restart-farm',
      parameters: { farm: 'shop' },
      reason: 'a test',
      ...asked,
    });
  const read = async (id: string, as: Person = 'root') => (await call(as, 'GET', `/changes/${id}`)).json!;
  return {
    ...gateway,
    tokenOf,
    call,
    ask,
    read,
    approve: async (as: Person, id: string, digest?: string) =>
      await call(as, 'POST', `/changes/${id}/approve`, {
        digest: digest ?? String((await read(id)).digest),
        reason: 'looked at',
      }),
    /** Resolves to the change when it is over. */
    ended: (id: string) =>
      until(
        () => read(id),
        ({ outcome }) => outcome !== null,
      ),
    /** Changes that reached the appliance, without the questions for parameters. */
    sent: () =>
      gateway.appliance.requests
        .filter(({ method, status }) => method !== 'GET' && status !== 400)
        .map(({ method, path, status }) => `${method} ${path} ${status}`),
  };
}

/** A gateway whose appliance was read, and got a backend that alice asked for and bob approved. */
export async function givenApprovedBackend(polls: readonly string[]) {
  const gateway = await givenApprovals({ polls, approvals: { requiredFor: ['reversible'] } });
  await untilAllRead(gateway.metricsUrl);
  const added = { ip: '10.20.9.9', port: 5432 };
  const path = '/appliances/lb-1/farms/db/backends';
  const asked = await gateway.call('alice', 'POST', path, added, { 'x-reason': 'more load' });
  const id = String(asked.json?.id);
  await gateway.approve('bob', id);
  await gateway.ended(id);
  return { ...gateway, id };
}
