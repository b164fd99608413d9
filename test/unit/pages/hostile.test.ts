import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import type { TwinStatus } from '../../../src/history/twin-watch.ts';
import { registerStatusPage } from '../../../src/pages/status/status-page.ts';
import type { NewEvent } from '../../../src/history/event.ts';
import { givenHistory, historyEvent, weightChange } from '../../support/given-events.ts';
import type { FleetStatus } from '../../../src/state/status.ts';
import {
  applianceStatus,
  backendStatus,
  certificateStatus,
  collectorStatus,
  exporterInfo,
  farmStatus,
  nowMs,
} from '../../support/fleet-status.ts';

const tag = /<(\/?[!a-zA-Z][\w-]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/g;

it.each([`"'>&=/ onload=alert(1) x`, "' autofocus onfocus='alert(1)", '</main>', '<script>alert(1)</script>', '<!--'])(
  'a page has the same elements and attributes when everything is named %s',
  async (name) => {
    for (const query of [fleet, appliance, farm, changes])
      expect(skeleton(await pageOf(name, query(name)))).toEqual(skeleton(await pageOf('plain', query('plain'))));
    const above = async (called: string): Promise<string> =>
      (await pageOf(called, runbooks(called))).split('</section>')[0] ?? '';
    expect(skeleton(await above(name))).toEqual(skeleton(await above('plain')));
    const found = await pageOf(name, `?q=${encodeURIComponent(name)}`);
    expect(found.replaceAll(tag, '')).not.toMatch(/[<>]/);
  },
);

const fleet = (): string => '';
const appliance = (name: string): string => `?appliance=${encodeURIComponent(name)}`;
const farm = (name: string): string => `${appliance(name)}&farm=${encodeURIComponent(name)}`;
const changes = (name: string): string => `${farm(name)}&list=changes&since=2h&event=state`;
const runbooks = (name: string): string => `runbooks${farm(name)}`;

/** A page of a fleet where everything is called so. */
async function pageOf(name: string, query: string): Promise<string> {
  const app = fastify();
  registerStatusPage(app, {
    fleetStatus: () => fleetCalled(name),
    unknownApplianceMessage: () => 'Nobody knows it.',
    exporter: () => exporterInfo(),
    withCommandName: (text) => text,
    lastMinuteOf: () => undefined,
    twinOf: () => twinCalled(name),
    history: givenHistory(...eventsCalled(name)),
    now: () => nowMs,
  });
  const { payload } = await app.inject(`/${query}`);
  await app.close();
  return payload;
}

function twinCalled(name: string): TwinStatus {
  const place = { object: 'farm', farm: name, service: name, name } as const;
  const differences = [
    { ...place, setting: '', here: name, there: undefined },
    { ...place, setting: name, here: name, there: name },
    { ...place, setting: 'name', here: name, there: name },
  ];
  return { name, comparison: { differences, unknown: new Set() } };
}

function fleetCalled(name: string): FleetStatus {
  const status = applianceStatus({
    name,
    hostname: `host of ${name}`,
    product: `p ${name}`,
    version: `1 ${name}`,
    edition: `e ${name}`,
    labels: { site: `at ${name}` },
    farms: [
      farmStatus({
        name,
        profile: `p${name}`,
        vip: `v${name}`,
        vport: `1${name}`,
        certificates: [name],
        backends: [backendStatus({ service: `s${name}`, backend: name, state: 'down', sinceMs: nowMs })],
      }),
    ],
    certificates: [
      certificateStatus({ file: name, commonName: `c${name}`, issuer: `i${name}`, usedBy: [name], notAfterSeconds: 1 }),
    ],
    activation: { status: `other ${name}`, kind: `k${name}`, notAfterSeconds: 1 },
    interfaces: [{ name, state: `x${name}` }],
    collectors: [collectorStatus({ name: 'farms', ok: false, failure: { reason: 'malformed', sinceMs: nowMs } })],
  });
  return { appliances: [status], transitions: [] };
}

function eventsCalled(name: string): readonly NewEvent[] {
  const whole = weightChange({ farm: name, service: `s${name}`, name, before: `a${name}`, after: `b${name}` });
  const differences = ['', 'state', `x${name}`, `y${name}`].map((setting) => ({ ...whole, setting }));
  const change = { appliance: name, farm: name, by: `change ch-1 by ${name}` };
  return [
    historyEvent({ ...change, differences }),
    historyEvent({ ...change, differences: [{ ...whole, setting: 'state' }], kind: 'state', by: undefined }),
    historyEvent({ ...change, differences: [], kind: 'change', text: name }),
  ];
}

/** Tags with the names of their attributes, without texts and values. */
function skeleton(page: string): readonly string[] {
  return [...page.matchAll(tag)].map(([, name, attributes = '']) => name + attributes.replaceAll(/="[^"]*"/g, ''));
}
