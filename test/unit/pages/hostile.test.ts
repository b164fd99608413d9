import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { registerStatusPage } from '../../../src/pages/status/status-page.ts';
import type { FleetStatus } from '../../../src/state/status.ts';
import {
  applianceStatus,
  backendStatus,
  certificateStatus,
  collectorStatus,
  exporterFacts,
  farmStatus,
  nowMs,
} from '../../support/fleet-status.ts';

const tag = /<(\/?[!a-zA-Z][\w-]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/g;

it.each([`"'>&=/ onload=alert(1) x`, "' autofocus onfocus='alert(1)", '</main>', '<script>alert(1)</script>', '<!--'])(
  'has the same elements and attributes where everything is called %s',
  async (name) => {
    for (const query of [fleet, appliance, farm])
      expect(skeleton(await pageOf(name, query(name)))).toEqual(skeleton(await pageOf('plain', query('plain'))));
    const found = await pageOf(name, `?q=${encodeURIComponent(name)}`);
    expect(found.replaceAll(tag, '')).not.toMatch(/[<>]/);
  },
);

const fleet = (): string => '';
const appliance = (name: string): string => `?appliance=${encodeURIComponent(name)}`;
const farm = (name: string): string => `${appliance(name)}&farm=${encodeURIComponent(name)}`;

/** A page of a fleet where everything is called so. */
async function pageOf(name: string, query: string): Promise<string> {
  const app = fastify();
  registerStatusPage(app, {
    describe: () => fleetCalled(name),
    unknownApplianceMessage: () => 'Nobody knows it.',
    exporter: () => exporterFacts(),
    spoken: (text) => text,
    lastMinuteOf: () => undefined,
    now: () => nowMs,
  });
  const { payload } = await app.inject(`/${query}`);
  await app.close();
  return payload;
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
  return {
    appliances: [status],
    transitions: [
      { atMs: nowMs, appliance: name, object: 'farm', labels: { farm: `f${name}` }, from: `a${name}`, to: `b${name}` },
    ],
  };
}

/** Tags with the names of their attributes, without texts and values. */
function skeleton(page: string): readonly string[] {
  return [...page.matchAll(tag)].map(([, name, attributes = '']) => name + attributes.replaceAll(/="[^"]*"/g, ''));
}
