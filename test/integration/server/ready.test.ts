import { expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenExporter } from '../../support/given-exporter.ts';
import { givenHeldAnswer } from '../../support/held-answer.ts';
import { untilIs } from '../../support/until.ts';

it('an exporter is ready once the farms of its appliances were read, and not before', async () => {
  const { appliances, start, stop } = await givenExporter({ 'lb-1': busyWorld() });
  await stop();
  const [appliance] = appliances;
  if (!appliance) throw new Error('there is one appliance');
  const { reached, release } = givenHeldAnswer(appliance, 'GET /farms');

  const url = await start();
  await reached();
  const statusOf = async (): Promise<number> => (await fetch(`${url}/-/ready`)).status;

  expect(await statusOf()).toBe(503);
  release();
  await untilIs(statusOf, 200);
});
