import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';
import { sendRaw } from '../support/raw-request.ts';
import { type Exchange, hasRecordings, ownRecordings, readExchanges, sharedRecordings } from '../support/recordings.ts';
import { differences } from './compare.ts';
import { missingSteps, worldBeforeWrites } from './missing-steps.ts';

const recordedAt = Date.parse('2026-11-20T21:00:00Z');

describe('the simulated appliance beside the recordings of every clone', () => {
  agreement(ownRecordings);
});

if (!hasRecordings(sharedRecordings)) console.warn('NOT RUN: agreement with ../shared/recorded, which is not here');
describe.skipIf(!hasRecordings(sharedRecordings))('the simulated appliance beside the recordings as made', () => {
  agreement(sharedRecordings);
});

function agreement(directory: string): void {
  it('answers every recorded request with the recorded status, headers, shape and values', async () => {
    const exchanges = readExchanges(directory);

    const problems = [
      ...(await play(
        exchanges.filter((exchange) => !isWrite(exchange)),
        recordedWorld(),
      )),
      ...(await play(exchanges.filter(isWrite), worldBeforeWrites())),
    ];

    console.log(`${exchanges.length - problems.length} of ${exchanges.length} agree (${directory})`);
    expect(problems).toEqual([]);
  });
}

/** Numbers 200 to 399 changed something, and are played in their order on a state of their own. */
function isWrite({ name }: Exchange): boolean {
  return /^[23]/.test(name);
}

async function play(exchanges: readonly Exchange[], world: World): Promise<readonly string[]> {
  const appliance = await startSimulatedAppliance({ world, apiKey: 'TEST_KEY', now: () => recordedAt });
  onTestFinished(() => appliance.close());
  const problems: string[] = [];
  for (const exchange of exchanges) {
    missingSteps[exchange.name]?.(world);
    const found = differences(exchange, await sendRaw(appliance.url, exchange.request));
    if (found.length > 0) problems.push(`${exchange.name}: ${found.join(', ')}`);
  }
  return problems;
}
