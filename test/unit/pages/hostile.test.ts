import { fastify } from 'fastify';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { registerStatusPage } from '../../../src/pages/status/status-page.ts';
import type { FleetStatus } from '../../../src/status/status.ts';
import { hostileName } from '../../fuzz/hostile-names.ts';
import {
  applianceStatus,
  backendStatus,
  certificateStatus,
  collectorStatus,
  exporterFacts,
  farmStatus,
  nowMs,
} from '../../support/fleet-status.ts';

const anyName = fc
  .oneof(
    hostileName,
    fc.string({ unit: fc.constantFrom(...`<>"'&/=!-a `) }),
    fc.constantFrom(
      '</main>',
      '<script>alert(1)</script>',
      '" onload="alert(1)',
      "' autofocus onfocus='alert(1)",
      '<!--',
    ),
  )
  // By the time that they are in a URL all are well-formed, and no appliance is called nothing.
  .map((name) => name.toWellFormed())
  .filter((name) => name !== '');

it('has the same elements and attributes for any names', async () => {
  await fc.assert(
    fc.asyncProperty(anyName, async (name) => {
      for (const query of [fleet, appliance, farm])
        expect(skeleton(await pageOf(name, query(name)))).toEqual(skeleton(await pageOf('plain', query('plain'))));
      // Some names are found in more places than others.
      expect(strange(await pageOf(name, `?q=${encodeURIComponent(name)}`))).toEqual([]);
    }),
    { numRuns: 20 },
  );
}, 60_000);

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
function skeleton(page: string): string[] {
  return [...page.matchAll(/<(\/?[!a-zA-Z][\w-]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/g)].map(
    ([, tag, attributes = '']) =>
      `${tag} ${[...attributes.matchAll(/\s+([\w-]+)(?:="[^"<>]*")?/g)].map(([, each]) => each).join(' ')}`,
  );
}

/** Tags and attributes that no page of ours has, and angle brackets that belong to no tag. */
function strange(page: string): string[] {
  return [
    ...skeleton(page).filter((tag) => /^script(?! type src$)|^img|^iframe|\bon\w+|autofocus/.test(tag)),
    ...page
      .replaceAll(/<(\/?[!a-zA-Z][\w-]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/g, '')
      .split('\n')
      .filter((line) => /[<>]/.test(line)),
  ];
}
