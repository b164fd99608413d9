import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { until } from '../../support/until.ts';

it('logs how long an admin request took', async () => {
  const gateway = await givenGateway({ 'lb-1': busyWorld() });
  // The answer has about 900 bytes.
  gateway.appliance.fail('GET /farms', { kind: 'slow_body', bytesPerSecond: 2_000 });

  const startedAt = performance.now();
  const { status } = await gateway.call('GET', '/appliances/lb-1/farms');
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  const line = await until(
    () => gateway.logged.find((each) => each.includes('"admin request"')),
    (seen) => seen !== undefined,
  );

  const { seconds } = JSON.parse(line ?? '') as { seconds: number };
  expect(status).toBe(200);
  expect(seconds).toBeGreaterThan(tookSeconds * 0.8);
  expect(seconds).toBeLessThan(tookSeconds + 0.5);
});

it.each([
  ['shop_example_com.pem', 20],
  ['newsite.key', 30],
])('logs a look at %s on level %i: a private key is no ordinary read', async (file, level) => {
  const gateway = await givenGateway({ 'lb-1': busyWorld() });

  await gateway.call('GET', `/appliances/lb-1/certificates/${file}/info`);
  const line = await until(
    () => gateway.logged.find((each) => each.includes('"admin request"')),
    (seen) => seen !== undefined,
  );

  expect(JSON.parse(line ?? '')).toMatchObject({ level, operation: 'readCertificateInfo' });
});
