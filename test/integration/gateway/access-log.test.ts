import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { until } from '../../support/until.ts';

it.each([
  ['shop_example_com.pem', 20],
  ['newsite.key', 30],
])('the gateway logs a read of %s on level %i, because a private key is not an ordinary read', async (file, level) => {
  const gateway = await givenGateway({ 'lb-1': busyWorld() });

  await gateway.call('GET', `/appliances/lb-1/certificates/${file}/info`);
  const line = await until(
    () => gateway.logged.find((each) => each.includes('"admin request"')),
    (seen) => seen !== undefined,
  );

  expect(JSON.parse(line ?? '')).toMatchObject({ level, operation: 'readCertificateInfo' });
});
