import { describe, expect, it } from 'vitest';
import { settingsOfShard } from '../../../src/config/settings.ts';
import { loadText } from './given-config.ts';

const names = ['lb-paris', 'lb-madrid', 'lb-berlin', 'lb-lisbon'];
const text = `
appliances:
${names.map((name) => `  - { name: ${name}, url: 192.0.2.10, api_key: f1x7ure }`).join('\n')}
limits: { series_per_appliance: 1000 }
`;

describe('the settings of a shard', () => {
  it('have its own appliances in order, the owners of the others, and everything else unchanged', async () => {
    const settings = await loadText(text);

    const own = settingsOfShard(settings, { index: 1, count: 3 });

    expect(own).toEqual({
      ...settings,
      appliances: [settings.appliances[1], settings.appliances[2]],
      shard: {
        index: 1,
        count: 3,
        elsewhere: new Map([
          ['lb-paris', 2],
          ['lb-lisbon', 2],
        ]),
      },
    });
  });
});
