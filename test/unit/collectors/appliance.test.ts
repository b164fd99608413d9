import { expect, it } from 'vitest';
import { applianceCollector } from '../../../src/collectors/appliance.ts';
import { collectFrom, refusal } from './given-replies.ts';

const version = {
  hostname: 'lb-a',
  appliance_version: 'RCE 7, hypervisor: KVM',
  kernel_version: '6.1.0',
  relianoid_version: '7.9.0',
  zevenet_version: '7.9.0',
};
const info = { ...version, edition: 'community', last_api_version: '4.0.3', last_zapi_version: '4.0.2' };

it('the appliance collector writes the identity of the appliance, with the configured labels', async () => {
  const collected = await collectFrom(
    applianceCollector,
    { readSystemInfo: { params: info } },
    { labels: { site: 'paris' } },
  );

  expect(collected.text).toMatchInlineSnapshot(`
    "zlb_appliance_info{appliance="lb",hostname="lb-a",product="relianoid",version="7.9.0",edition="community",api_version="4.0.3",kernel="6.1.0",site="paris"} 1
    "
  `);
  expect(collected.facts).toEqual({ product: 'relianoid', version: '7.9.0', edition: 'community' });
});

it('the appliance collector reads only the version of an older release, without an edition', async () => {
  const { relianoid_version: _, ...older } = version;

  const collected = await collectFrom(applianceCollector, {
    readSystemVersion: { params: { ...older, zevenet_version: '6.2.1' } },
  });

  expect(collected.asked).toEqual(['readSystemInfo', 'readSystemVersion']);
  expect(collected.text).toContain('product="zevenet",version="6.2.1",edition="",api_version=""');
  expect(collected.facts).toEqual({ product: 'zevenet', version: '6.2.1' });
});

it.each([
  ['relianoid', '7.9.0', version],
  ['skudonet', '7.1.0', { hostname: 'lb-a', appliance_version: 'SKD 7', skudonet_version: '7.1.0' }],
  ['zevenet', '6.2.1', { hostname: 'lb-a', relianoid_version: null, zevenet_version: '6.2.1' }],
  ['unknown', 'NEW 1', { hostname: 'lb-a', appliance_version: 'NEW 1', another_version: '1.0' }],
  ['unknown', '', { hostname: 'lb-a', relianoid_version: '' }],
])(
  'the appliance collector names the product %s and its release %s by the key of the release',
  async (product, release, params) => {
    const collected = await collectFrom(applianceCollector, { readSystemVersion: { params } });

    expect(collected.text).toContain(`product="${product}",version="${release}"`);
  },
);

it('the appliance collector does not mistake a failure for an older release', async () => {
  const failing = collectFrom(applianceCollector, {
    readSystemInfo: refusal('forbidden'),
    readSystemVersion: { params: version },
  });

  await expect(failing).rejects.toMatchObject({ reason: 'forbidden' });
});

it('the appliance collector reads fields that are missing, null or numbers, and an unknown edition', async () => {
  const bare = await collectFrom(applianceCollector, { readSystemInfo: { params: { kernel_version: '' } } });
  const odd = await collectFrom(applianceCollector, {
    readSystemInfo: { params: { hostname: null, skudonet_version: 7, edition: 'cloud' } },
  });

  expect(bare.text).toBe(
    'zlb_appliance_info{appliance="lb",hostname="",product="unknown",version="",edition="",api_version="",kernel=""} 1\n',
  );
  expect(odd.text).toContain('product="skudonet",version="7",edition="cloud"');
  expect(odd.facts).toEqual({ product: 'skudonet', version: '7' });
});
