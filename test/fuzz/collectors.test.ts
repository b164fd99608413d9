import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAnswer } from '../../src/appliance/answer.ts';
import type { ReadKey } from '../../src/appliance/client.ts';
import { createDecoder } from '../../src/appliance/decode.ts';
import type { EndpointRow } from '../../src/appliance/api/row.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import { ApplianceError } from '../../src/appliance/errors.ts';
import { applianceFacts } from '../../src/collectors/appliance-facts.ts';
import { type CollectContext, isFarmCollector, type ReadFrom } from '../../src/collectors/collector.ts';
import { writeReading } from '../../src/collectors/rows.ts';
import { collectorFamilies, collectors } from '../../src/collectors/registry.ts';
import { fillRegistry } from '../../src/metrics/render.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { fuzzing } from '../support/fuzz.ts';
import { textOf } from '../support/store-text.ts';
import { damageJson, damages } from './damaged-json.ts';
import { recordedReplies } from './recorded-replies.ts';
import { plainVip } from '../support/poller.ts';

const replies = recordedReplies();
const decode = createDecoder();
const families = collectorFamilies;

/** A whole appliance: of every call one of the recorded bodies, a few of them damaged. */
const appliance = fc
  .array(fc.record({ key: fc.constantFrom(...new Set(replies.map(({ key }) => key))), list: damages }), {
    maxLength: 4,
  })
  .map((chosen) => {
    const bodies = new Map<ReadKey, string>(replies.map(({ key, text }) => [key, text]));
    for (const { key, list } of chosen) bodies.set(key, damageJson(bodies.get(key) ?? '', list));
    return bodies;
  });

describe('the collectors, of replies that decode and still are not what they should be', () => {
  it('make a page that a strict scraper reads, or fail as a call fails', async () => {
    await fc.assert(
      fc.asyncProperty(appliance, async (bodies) => {
        const page = await pageOf(bodies);

        expect(() => parseExposition(page, 'text')).not.toThrow();
        expect(page).not.toMatch(/timestamp_seconds\S* 0$/m);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      fuzzing('appliances'),
    );
  }, 120_000);
});

/**
 * The page after one run of every collector; what is thrown other than a failed call is thrown on.
 */
async function pageOf(bodies: ReadonlyMap<ReadKey, string>): Promise<string> {
  const newest = new Map<string, unknown>();
  const store = createMetricsStore([...new Set(families)]);
  store.arrange(['lb']);
  const read: ReadFrom = (key) => replyTo(key, bodies) as never;
  const context: CollectContext = {
    read,
    get facts() {
      return applianceFacts(newest);
    },
    watches: () => true,
    now: () => Date.UTC(2026, 10, 20, 21),
    labels: {},
    newest: () => undefined,
    signal: new AbortController().signal,
    vip: plainVip,
  };
  for (const collector of collectors) {
    try {
      const readings = isFarmCollector(collector)
        ? await readFarms(collector, context)
        : [await collector.collect(context)];
      for (const [index, data] of readings.entries()) {
        const write = writeReading(collector.families, data, { compact: false });
        store.put('lb', `${collector.name} ${index}`, fillRegistry('lb', write));
      }
      if (!isFarmCollector(collector)) newest.set(collector.name, readings[0]);
    } catch (error) {
      if (!(error instanceof ApplianceError)) throw error;
    }
  }
  return await textOf(store);
}

async function readFarms(collector: Extract<(typeof collectors)[number], { begin: unknown }>, context: CollectContext) {
  const collectFarm = await collector.begin(context);
  // A name of a farm that stands twice in the list has one reading.
  const byName = new Map(
    context.facts.farms?.filter((farm) => collector.covers(farm)).map((farm) => [farm.name, farm]),
  );
  return await Promise.all([...byName.values()].map((farm) => collectFarm(farm, context)));
}

function replyTo(key: ReadKey, bodies: ReadonlyMap<ReadKey, string>): Promise<unknown> {
  const row: EndpointRow = endpoints[key];
  const refused = (message: string) =>
    Promise.reject(new ApplianceError('malformed', { endpoint: row.route, message }));
  const text = bodies.get(key);
  if (text === undefined || !row.reply) return refused('there is none');
  const mediaType = 'type' in row.reply && row.reply.type === 'string' ? 'text/plain' : 'application/json';
  const verdict = checkAnswer({ status: 200, mediaType, text }, { schema: row.reply, maxValues: 100_000 }, decode);
  return 'value' in verdict ? Promise.resolve(verdict.value) : refused(verdict.because);
}
