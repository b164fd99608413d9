import { expect, it, onTestFinished } from 'vitest';
import { check } from '../../../src/commands/check/check.ts';
import { fingerprint } from '../../../src/commands/fingerprint.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { httpFarm, service } from '../../../simulator/world-parts.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';
import { makeMaterial, startTlsServer } from '../../support/tls-server.ts';
import { givenContext } from './given-command.ts';

const hostile = '\u001b]0;owned\u0007\u009b2Jall is well';

it('terminal controls are removed from the name in a certificate', async () => {
  const { url, material } = await startTlsServer(() => undefined, {
    material: makeMaterial({ name: hostile }),
  });
  const { context, said, warned } = givenContext({ arguments: [url.host] });

  const code = await fingerprint(context);

  expect(code).toBe(0);
  expect(said).toEqual([material.fingerprintSha256]);
  expect(warned[0]).toContain('shows a certificate for \\1B]0;owned\\07 2Jall is well, valid to');
  expect(warned.join('')).not.toMatch(/\p{Cc}/u);
});

it('terminal controls are removed from what an appliance says about itself', async () => {
  const world = Object.assign(recordedWorld(), { applianceVersion: hostile, productVersion: hostile });
  const farm = `${hostile}\nDiagnosis healthy`;
  world.farms.set(farm, httpFarm({ name: farm, vip: '192.0.2.9', vport: '80', services: [service('web')] }));
  const appliance = await startSimulatedAppliance({ world, apiKey: 'canarykey' });
  onTestFinished(() => appliance.close());
  const { context, said } = givenContext({
    env: {
      ZLB_APPLIANCE_URL: appliance.url,
      ZLB_API_KEY: 'canarykey',
      ZLB_TLS_FINGERPRINT_SHA256: appliance.fingerprintSha256,
    },
  });

  await check(context);

  expect(said.join('\n')).toContain('all is well Diagnosis healthy is critical');
  expect(said.join('')).not.toMatch(/\p{Cc}/u);
});
