import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gauge, stateSet } from '../../src/metrics/family.ts';
import { fillRegistry, labelValue } from '../../src/metrics/render.ts';
import { createMetricsStore } from '../../src/metrics/store.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { fuzzing } from '../support/fuzz.ts';
import { textOf } from '../support/store-text.ts';
import { hostileName } from './hostile-names.ts';

const size = gauge('farm_size', 'How large a farm is (a guess).', ['farm', 'service']);
const status = stateSet('farm_status', 'How a farm does (a look).', ['farm'], ['up', 'down', 'unknown']);
const digestForm = /^.{0,115}~[0-9a-f]{12}$/su;

describe('a sample with hostile labels', () => {
  it('reads back to the same labels in both formats, or to their digest form', async () => {
    await fc.assert(
      fc.asyncProperty(
        hostileName,
        hostileName,
        fc.double({ noNaN: true }),
        hostileName,
        async (farm, service, value, state) => {
          const pages = await pagesOf((emit) => {
            emit.sample(size, { farm, service }, value);
            emit.state(status, { farm }, state);
          });

          for (const [sized, stated] of pages) {
            expect(sized?.samples).toHaveLength(1);
            expect(Number(sized?.samples[0]?.value) + 0).toBe(value + 0);
            expectShown(sized?.samples[0]?.labels.farm, farm);
            expectShown(sized?.samples[0]?.labels.service, service);
            expect(stated?.samples.filter((sample) => sample.value === 1)).toHaveLength(1);
          }
        },
      ),
      fuzzing('labels'),
    );
  }, 120_000);
});

describe('a page with many hostile names', () => {
  const lookAlikes = fc.uniqueArray(
    fc.oneof(
      hostileName,
      // The shown form of another name is a name, too.
      hostileName.map((farm) => shownAs(farm)),
      hostileName.map((farm) => shownAs(shownAs(farm))),
      hostileName.map((farm) => `${farm}\n`),
      hostileName.map((farm) => `${farm},service:`),
    ),
    { maxLength: 20 },
  );

  it('has one series for each of them', async () => {
    await fc.assert(
      fc.asyncProperty(lookAlikes, async (farms) => {
        const [page] = await pagesOf((emit) => {
          for (const farm of farms) emit.sample(size, { farm, service: '' }, 1);
        });

        expect(page?.[0]?.samples ?? []).toHaveLength(farms.length);
      }),
      fuzzing('pagesOfNames'),
    );
  }, 120_000);
});

function expectShown(shown: string | undefined, name: string): void {
  if (shown !== name) expect(shown).toMatch(digestForm);
  expect(shown?.length).toBeLessThanOrEqual(128);
  expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u);
}

function shownAs(farm: string): string {
  return labelValue(farm, ['appliance', 'farm', 'service']);
}

/** Returns the text that a strict scraper reads, in the classic format and in OpenMetrics. */
async function pagesOf(fill: Parameters<typeof fillRegistry>[1]) {
  const store = createMetricsStore([size, status]);
  store.arrange(['lb']);
  store.put('lb', 'key', fillRegistry('lb', fill));
  return await Promise.all(
    (['text', 'openmetrics'] as const).map(async (format) =>
      // The end of a page in OpenMetrics follows what the exporter says of itself.
      parseExposition((await textOf(store, format)) + (format === 'text' ? '' : '# EOF\n'), format),
    ),
  );
}
