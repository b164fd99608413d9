import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { deactivatedWorld, expiringWorld } from '../../simulator/scenes/expiring.ts';
import { emptyCommunityWorld } from '../../simulator/scenes/sizes.ts';
import type { SimulatedAppliance } from '../../simulator/server.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { until } from '../support/until.ts';

const eager = ['farms', 'backends', 'farm_config', 'certificates', 'activation'];

/** The text of a page, without its markup. */
async function pageText(address: string): Promise<string> {
  const text = await (await fetch(address)).text();
  return text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

describe('a search for a state', () => {
  it('finds objects in that state, not healthy ones', async () => {
    const worlds = { 'lb-madrid': busyWorld(), 'lb-berlin': expiringWorld(), 'lb-lisbon': deactivatedWorld() };
    const { url } = await givenExporter(worlds, { eager });
    const find = (word: string, expected: string) =>
      until(
        () => pageText(`${url}/?q=${encodeURIComponent(word)}`),
        (text) => text.includes(expected),
        20_000,
      );

    expect(await find('down', '10.20.0.14:8081')).toContain('oldportal');
    expect(await find('critical', 'legacy')).not.toContain('oldportal');
    expect(await find('needs restart', 'payments')).toContain('1 match');
    expect(await find('expired', 'old_example_com.pem')).toContain('1 match');
    expect(await find('deactivated', 'lb-lisbon')).toContain('1 match');
    expect(await find('lb-madrid', '1 match'), 'a name is found as before').not.toContain('lb-berlin');
    expect(await pageText(`${url}/?q=up`)).not.toContain('10.20.0.11');
  }, 60_000);
});

describe('an appliance that was never read', () => {
  /** The page of an exporter that was started on a trouble, once it says so. */
  async function pageAfter(trouble: (appliance: SimulatedAppliance) => unknown, expected: string): Promise<string> {
    const given = await givenExporter({ 'lb-1': emptyCommunityWorld() }, { eager });
    await given.stop();
    for (const appliance of given.appliances) await trouble(appliance);
    const url = await given.start();
    return await until(
      () => pageText(url),
      (page) => page.includes(expected),
      40_000,
    );
  }

  it('is not shown as an earlier state', async () => {
    const text = await pageAfter((appliance) => appliance.close(), 'does not answer');

    expect(text).toContain('It was not read since the exporter was started: nothing is known of it.');
    expect(text).not.toContain('was read before');
  }, 60_000);

  it('is not reported as silent if another server answers', async () => {
    const text = await pageAfter(
      (appliance) => appliance.fail('*', { kind: 'html', status: 404 }),
      'What is wrong now',
    );

    expect(text).toContain('lb-1 does not answer as an appliance does: not found');
  }, 60_000);

  it('shows no older readings while they fail one by one', async () => {
    const text = await pageAfter(
      (appliance) => appliance.fail('*', { kind: 'status', status: 404 }),
      'What is wrong now',
    );

    expect(text).not.toContain('What is shown of it is older');
    expect(text).toContain('Nothing of it was read since the exporter was started.');
  }, 60_000);
});
