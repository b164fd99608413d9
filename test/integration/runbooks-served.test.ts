import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { givenExporter } from '../support/given-exporter.ts';

/** The section of one alert, as a reader sees it. */
async function section(address: string, alert: string): Promise<string> {
  const page = await (await fetch(address)).text();
  const own = page.slice(page.indexOf(`id="${alert.toLowerCase()}"`)).split('<h3')[0] ?? '';
  return own
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

describe('the runbooks that the exporter serves', () => {
  it('are at the address of the alerts, with the labels of the alert', async () => {
    const { url } = await givenExporter({ 'lb-1': busyWorld() });

    const ofBoard = await fetch(`${url}/runbooks/ZlbFarmDown?appliance=lb-1`, { redirect: 'manual' });
    expect(ofBoard.headers.get('location')).toBe('../runbooks?appliance=lb-1#zlbfarmdown');
    const unknown = await fetch(`${url}/runbooks/no%20exporter?farm=`, { redirect: 'manual' });
    expect(unknown.headers.get('location')).toBe('../runbooks?farm=');

    const alias = await fetch(`${url}/docs/operations.md?appliance=lb-1`, { redirect: 'manual' });
    const followed = await fetch(`${url}/docs/operations.md`);

    expect([alias.status, new URL(alias.headers.get('location') ?? '', alias.url).href]).toEqual([
      308,
      `${url}/runbooks?appliance=lb-1`,
    ]);
    expect([followed.status, followed.url]).toEqual([200, `${url}/runbooks`]);
  });

  it('have the labels of the alert in commands and queries', async () => {
    const { url } = await givenExporter({ 'lb-1': busyWorld() });

    const text = await section(`${url}/runbooks?appliance=lb-paris&farm=shop`, 'ZlbFarmDown');

    expect(text).toContain('zlb-exporter admin lb-paris readFarmStatus farmname=shop\n');
    expect(text).toContain('zlb_farm_info{appliance="lb-paris", farm="shop"}');
    expect(text).not.toMatch(/\$appliance|\$farm|lb-madrid|oldportal/);
    expect(text).toContain('Filled in: appliance lb-paris, farm shop.');
  });

  it('have the addresses of this exporter, and say that its gateway is off', async () => {
    const { url } = await givenExporter({ 'lb-paris': busyWorld() });

    const page = await (await fetch(`${url}/runbooks?appliance=lb-paris&farm=shop`)).text();
    const text = await section(`${url}/runbooks?appliance=lb-paris&farm=shop`, 'Commands');

    expect(text).toContain(`exporter=${url} `);
    expect(text).toMatch(/url=https:\/\/127\.0\.0\.1:\d+ key_file=/);
    expect(await section(`${url}/runbooks`, 'ZlbFarmDown')).toContain('The admin gateway of this exporter is off');
    expect(page).toContain('<a href="#zlbfarmdown">ZlbFarmDown</a>');
    expect(page).not.toMatch(/Installed as|names of the demonstration/);
    expect(await (await fetch(`${url}/runbooks`)).text()).toMatch(/Installed as[^]*names of the demonstration/);
  });

  it('omit a label with shell characters from commands, and escape it everywhere', async () => {
    const { url } = await givenExporter({ 'lb-1': busyWorld() });
    const odd = `</code><script>alert(1)</script>"\\'; rm -rf $HOME`;
    const address = `${url}/runbooks?${new URLSearchParams({ appliance: 'lb-1', farm: odd }).toString()}`;

    const page = await (await fetch(address)).text();
    const text = await section(address, 'ZlbFarmDown');

    expect(page).not.toContain('<script>alert');
    expect(text).toContain('zlb-exporter admin lb-1 readFarmStatus farmname=$farm\n');
    expect(text).toContain(String.raw`farm="</code><script>alert(1)</script>\"\\'; rm -rf $HOME"}`);
    expect(text).toContain(
      String.raw`Set in the shell first: farm='</code><script>alert(1)</script>"\'\''; rm -rf $HOME'. `,
    );
  });

  it('explain their variables if no valid label is given', async () => {
    const { url } = await givenExporter({ 'lb-1': busyWorld() });
    const tooLong = `appliance=${'a'.repeat(300)}`;

    for (const query of ['', 'appliance=a&appliance=b', 'appliance=', 'appliance=a%0Arm', tooLong, 'constructor=a']) {
      const response = await fetch(`${url}/runbooks?${query}`);
      const text = await section(`${url}/runbooks?${query}`, 'ZlbFarmDown');

      expect(response.status, query).toBe(200);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text, query).toContain('zlb-exporter admin $appliance readFarmStatus farmname=$farm\n');
      expect(text).toContain('zlb_farm_info{appliance="$appliance", farm="$farm"}');
      expect(text).not.toMatch(/lb-madrid|oldportal/);
      expect(text).toContain('$appliance and $farm are not in this link: look in the text of the alert.');
    }
  });
});
