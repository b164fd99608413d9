import { describe, expect, it } from 'vitest';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { createRouteMatcher } from '../../src/appliance/route.ts';
import { handlers } from '../../simulator/handlers.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { recordedSkudonetWorld, recordedZevenetWorld } from '../../simulator/scenes/recorded-later.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { createTlsMaterials } from '../../simulator/tls.ts';
import type { World } from '../../simulator/world.ts';
import { sendRaw } from '../support/raw-request.ts';
import { belowBase, type Exchange, hasRecordings, readExchanges, recordedProducts } from '../support/recordings.ts';
import { differences } from './compare.ts';

type Product = (typeof recordedProducts)[number]['product'];

const tls = createTlsMaterials();
const routes = createRouteMatcher(endpointRows.map(([, row]) => row));

const scenes: Readonly<Record<Product, { readonly world: () => World; readonly at: string }>> = {
  relianoid: { world: recordedWorld, at: '2026-11-20T21:00:00Z' },
  skudonet: { world: recordedSkudonetWorld, at: '2026-11-23T14:00:00Z' },
  zevenet: { world: recordedZevenetWorld, at: '2026-11-28T18:10:00Z' },
};

/**
 * Recorded writes that do not depend on the writes before them: actions, changes and refusals. The
 * others made the farms of the recorded reads, or farms that were gone again.
 */
const independentWrites: Readonly<Record<Product, RegExp>> = {
  relianoid:
    /^(205|218|219|234|254|255|258|261|262|263|265|266|267|282|285|286|287|290|291|295|302|305|306|307|309|310|315|323|325)-/,
  skudonet: /^(209|259|260|274|275|287|328|330|331|332|334|335|457|458|460)-/,
  zevenet: /^(209|254|255|256|257|259|260|261|274|275|281|327|330|331|332|334|335)-/,
};

/** Differences that are known, with their reason. */
const known: Readonly<Record<Product, readonly (readonly [names: RegExp, reason: string])[]>> = {
  relianoid: [],
  skudonet: [
    [/^003-/, 'UDP went on between this read and the one of the farm'],
    [/^071-/, 'the list of ACME certificates prints an organisation before each issuer'],
  ],
  zevenet: [
    [/^003-/, 'UDP went on between this read and the one of the farm'],
    [/^25[45]-/, 'right after a start, zproxy did not say yet that its backends are up'],
  ],
};

describe.each(recordedProducts)('the simulated $product', ({ product, clone, beside }) => {
  it('responds like the recordings of every clone', () => agreement(product, clone));

  if (!hasRecordings(beside)) console.warn(`NOT RUN: agreement with the full recordings of ${product}`);
  it.skipIf(!hasRecordings(beside))('responds like the original recordings', () => agreement(product, beside));
});

/** Compares status, headers, shape and values of each recorded call that the simulator has. */
async function agreement(product: Product, directory: string): Promise<void> {
  const calls = readExchanges(directory).filter(isSimulated);
  const reads = calls.filter((exchange) => !isWrite(exchange));
  const writes = calls.filter(({ name }) => independentWrites[product].test(name));

  const problems = await play(product, reads);
  for (const write of writes) problems.push(...(await play(product, [write])));

  const isKnown = (problem: string) => known[product].some(([names]) => names.test(problem));
  expect(problems.filter((problem) => !isKnown(problem))).toEqual([]);
  expect(reads.length).toBeGreaterThan(60);
}

/** A route without a handler answers with an empty list; other verbs and base paths have no reader. */
function isSimulated({ request: { method, path } }: Exchange): boolean {
  const found = routes.match(method, belowBase(path));
  if (found) return found.row.route in handlers;
  return ['GET', 'POST', 'PUT', 'DELETE'].includes(method) && !path.startsWith('/zapi/v3.1/') && path !== '/';
}

/** Numbers 200 to 399 changed something. */
function isWrite({ name }: Exchange): boolean {
  return /^[23]/.test(name);
}

/** Sends recorded requests to an appliance in the recorded state, and returns the differences. */
async function play(product: Product, exchanges: readonly Exchange[]): Promise<string[]> {
  const { world, at } = scenes[product];
  const appliance = await startSimulatedAppliance({
    world: world(),
    apiKey: 'TEST_KEY',
    now: () => Date.parse(at),
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
