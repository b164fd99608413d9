import { describe, expect, it } from 'vitest';
import { shareOf } from '../../../src/config/share.ts';
import { loadText } from './given-config.ts';

const names = ['lb-paris', 'lb-madrid', 'lb-berlin', 'lb-lisbon'];
const text = `
appliances:
${names.map((name) => `  - { name: ${name}, url: 192.0.2.10, api_key: f1x7ure }`).join('\n')}
limits: { series_per_appliance: 1000 }
`;

describe('the share of a shard', () => {
  it('is the whole without one', async () => {
    const settings = await loadText(text);

    expect(shareOf(settings, undefined)).toBe(settings);
  });

  it('has its own appliances in their order, says who watches the others, and leaves all else as it is', async () => {
    const settings = await loadText(text);

    const share = shareOf(settings, { index: 1, count: 3 });

    expect(share).toEqual({
      ...settings,
      appliances: [settings.appliances[1], settings.appliances[2]],
      share: {
        index: 1,
        count: 3,
        elsewhere: new Map([
          ['lb-paris', 2],
          ['lb-lisbon', 2],
        ]),
      },
    });
  });

  it('gives every appliance to exactly one of the shards', async () => {
    const settings = await loadText(text);

    const shares = [0, 1, 2].map((index) => shareOf(settings, { index, count: 3 }).appliances);

    expect(shares.map((share) => share.length)).toEqual([0, 2, 2]);
    expect(new Set(shares.flat())).toEqual(new Set(settings.appliances));
  });
});
