import { describe, expect, it } from 'vitest';
import { appliance } from '../../../src/collectors/appliance.ts';
import { collectFrom, refusal } from './given-replies.ts';

const version = {
  hostname: 'lb-a',
  appliance_version: 'RCE 7, hypervisor: KVM',
  kernel_version: '6.1.0',
  relianoid_version: '7.9.0',
  zevenet_version: '7.9.0',
};
const info = { ...version, edition: 'community', last_api_version: '4.0.3', last_zapi_version: '4.0.2' };

describe('the appliance collector', () => {
  it('writes the identity of the appliance, with the labels of the configuration', async () => {
    const collected = await collectFrom(appliance, { readSystemInfo: { params: info } }, { labels: { site: 'paris' } });

    expect(collected.text).toMatchInlineSnapshot(`
      "zlb_appliance_info{appliance="lb",hostname="lb-a",version="7.9.0",edition="community",api_version="4.0.3",kernel="6.1.0",site="paris"} 1
      "
    `);
    expect(collected.facts).toEqual({ version: '7.9.0', edition: 'community' });
  });

  it('reads only the version of an older release, without an edition', async () => {
    const { relianoid_version: _, ...older } = version;

    const collected = await collectFrom(appliance, {
      readSystemVersion: { params: { ...older, zevenet_version: '6.2.1' } },
    });

    expect(collected.asked).toEqual(['readSystemInfo', 'readSystemVersion']);
    expect(collected.text).toContain('version="6.2.1",edition="",api_version=""');
    expect(collected.facts).toEqual({ version: '6.2.1' });
  });

  it('does not mistake a failure for an older release', async () => {
    const failing = collectFrom(appliance, {
      readSystemInfo: refusal('forbidden'),
      readSystemVersion: { params: version },
    });

    await expect(failing).rejects.toMatchObject({ reason: 'forbidden' });
  });

  it('reads fields that are missing, null or numbers, and an edition that is new', async () => {
    const bare = await collectFrom(appliance, { readSystemInfo: { params: { kernel_version: '' } } });
    const odd = await collectFrom(appliance, {
      readSystemInfo: { params: { hostname: null, skudonet_version: 7, edition: 'cloud' } },
    });

    expect(bare.text).toBe(
      'zlb_appliance_info{appliance="lb",hostname="",version="",edition="",api_version="",kernel=""} 1\n',
    );
    expect(odd.text).toContain('version="7",edition="cloud"');
    expect(odd.facts).toEqual({ version: '7' });
  });

  it('writes valid text for any name of the appliance', async () => {
    const collected = await collectFrom(appliance, {
      readSystemInfo: { params: { ...info, hostname: 'a"} 1\nzlb_up 1' } },
    });

    expect(collected.text).toMatch(/hostname="a\\"\} 1\ufffdzlb_up 1[^"\n]*",version=/);
    expect(collected.text.trim().split('\n')).toHaveLength(1);
  });
});
