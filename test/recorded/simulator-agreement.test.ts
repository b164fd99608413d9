import { describe, expect, it } from 'vitest';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { createRouteMatcher } from '../../src/appliance/route.ts';
import { handlers } from '../../simulator/handlers.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { createTlsMaterials } from '../../simulator/tls.ts';
import { sendRaw } from '../support/raw-request.ts';
import {
  belowBase,
  type Exchange,
  hasRecordings,
  ownRecordings,
  readExchanges,
  sharedRecordings,
} from '../support/recordings.ts';
import { differences } from './compare.ts';

const recordedAt = Date.parse('2026-11-20T21:00:00Z');
const tls = createTlsMaterials();
const routes = createRouteMatcher(endpointRows.map(([, row]) => row));

/** Recorded writes that do not depend on the writes before them: actions, changes and refusals. */
const independentWrites =
  /^(205|218|219|234|254|255|258|261|262|263|265|266|267|282|285|286|287|290|291|295|302|305|306|307|309|310|315|323|325)-/;

describe('the simulated appliance beside the recordings of every clone', () => {
  agreement(ownRecordings);
});

if (!hasRecordings(sharedRecordings)) console.warn('NOT RUN: agreement with ../shared/recorded, which is not here');
describe.skipIf(!hasRecordings(sharedRecordings))('the simulated appliance beside the recordings as made', () => {
  agreement(sharedRecordings);
});

function agreement(directory: string): void {
  it('answers every recorded call that it simulates with the recorded status, headers, shape and values', async () => {
    const calls = readExchanges(directory).filter(isSimulated);
    const reads = calls.filter((exchange) => !isWrite(exchange));
    const writes = calls.filter(({ name }) => independentWrites.test(name));

    const problems = await play(reads);
    for (const write of writes) problems.push(...(await play([write])));

    expect(problems).toEqual([]);
    expect([reads.length > 80, writes.length > 25]).toEqual([true, true]);
  });
}

/** A route without a handler answers with an empty list; HEAD and OPTIONS have no reader. */
function isSimulated({ request: { method, path } }: Exchange): boolean {
  const found = routes.match(method, belowBase(path));
  return found ? found.row.route in handlers : !['HEAD', 'OPTIONS'].includes(method);
}

/** Numbers 200 to 399 changed something. */
function isWrite({ name }: Exchange): boolean {
  return /^[23]/.test(name);
}

/** Sends recorded requests to an appliance in the recorded state, and returns the differences. */
async function play(exchanges: readonly Exchange[]): Promise<string[]> {
  const appliance = await startSimulatedAppliance({
    world: recordedWorld(),
    apiKey: 'TEST_KEY',
    now: () => recordedAt,
    tls,
  });
  const problems: string[] = [];
  for (const exchange of exchanges) {
    const found = differences(exchange, await sendRaw(appliance.url, exchange.request));
    if (found.length > 0) problems.push(`${exchange.name}: ${found.join(', ')}`);
  }
  await appliance.close();
  return problems;
}
