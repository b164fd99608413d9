import { describe, expect, it } from 'vitest';
import { tlsMaterialOf } from '../../../simulator/tls.ts';
import { startTlsServer } from '../../support/tls-server.ts';
import { attach, fileOf, given, httpsFarm, isNew, worldWith } from './given-deliver.ts';
import { issue, name } from '../../support/issue.ts';

const networks = ['192.0.2.0/24', '127.0.0.1'];
/** A way to the farms that leads to a port on which nobody listens. */
const closed = { '192.0.2.40': '127.0.0.1:1' };

/** A server that presents a certificate, for the place of the farms. */
async function givenPeer({ key, cert }: ReturnType<typeof issue>) {
  const peer = await startTlsServer((socket) => socket.end(), { material: tlsMaterialOf(key, cert) });
  return () => ({ networks, connect_to: { '192.0.2.40': `127.0.0.1:${peer.url.port}` } });
}

describe('what farms serve after a delivery', () => {
  it('is compared with the new certificate where the vip collector is on, also by the next run', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    const { run, words, done } = await given(worlds, issue(), {
      vip: (appliances, appliance) => ({ networks, connect_to: appliances.get(appliance)?.farms?.addresses }),
    });

    const first = await run(words);
    const sent = await done();
    const second = await run(words);

    expect(first.code, first.out).toBe(0);
    expect(first.out).toMatch(/lb-1 +shop +delivered +in the place of old\.pem; served/);
    expect(first.out).toMatch(/lb-2 +shop +delivered +in the place of old\.pem; served/);
    expect(second.out.match(/has it already +served/g)).toHaveLength(2);
    expect(second.code).toBe(0);
    expect(await done()).toEqual(sent);
  });

  it.each([
    ['where the collector is off', undefined, 'the collector vip is off'],
    ['while it cannot be reached', { networks, connect_to: closed }, 'a connection to 192.0.2.40:443 gave refused'],
    ['where the collector may not connect', { connect_to: closed }, '192.0.2.40:443 may not be connected to'],
  ])('is not verified %s', async (_, vip, because) => {
    const { run, words } = await given({ 'lb-1': worldWith() }, issue(), vip && { vip: () => vip });

    const { code, out } = await run(words);

    expect(code).toBe(0);
    expect(out).toContain(`in the place of old.pem; not verified: ${because}`);
  });

  it('is a failure while it is still the old certificate, and the new one stays installed', async () => {
    const old = issue({ from: -60, until: 29 });
    const worlds = { 'lb-1': worldWith(old), 'lb-2': worldWith(old) };
    const { run, words } = await given(worlds, issue(), { vip: await givenPeer(old) });

    const { code, out } = await run(words);

    expect(code).toBe(1);
    expect(out).toMatch(
      /lb-1 +shop +failed +in the place of old\.pem; 192\.0\.2\.40:443 still serves old\.pem for shop\.example\.com/,
    );
    for (const world of Object.values(worlds)) {
      expect(fileOf(world)).toEqual([isNew]);
      expect(httpsFarm(world, 'shop').needsRestart).toBe(false);
    }
  });

  it('is not verified when another host responds at the address of the farm, also in the next run', async () => {
    const { run, words } = await given({ 'lb-1': worldWith() }, issue(), { vip: await givenPeer(issue()) });

    const [first, second] = [await run(words), await run(words)];

    expect([first.code, second.code]).toEqual([0, 0]);
    for (const { out } of [first, second])
      expect(out).toContain('not verified: from the exporter, 192.0.2.40:443 shows an unknown certificate');
    expect(first.out).toContain('admin lb-1 deleteCertificate file=old.pem --confirm=old.pem');
    expect(second.out).not.toContain('deleteCertificate');
  });

  it('is not a failure when the farm presents another of its certificates for the name', async () => {
    const world = worldWith();
    const elliptic = issue({ from: -60 });
    httpsFarm(world, 'shop').certificates = [];
    attach(world, 'shop', 'ecdsa.pem', elliptic);
    attach(world, 'shop', 'old-rsa.pem', issue({ from: -60, rsa: true }));
    const vip = await givenPeer(elliptic);
    const { run, words } = await given({ 'lb-1': world }, issue({ rsa: true }), { vip });

    const { code, out } = await run(words);

    expect(code, out).toBe(0);
    expect(out).toContain(`not verified: 192.0.2.40:443 presents ecdsa.pem for ${name}`);
  });

  it('is verified after the last delivery, because the other node of a cluster may have the address', async () => {
    const worlds = { 'lb-1': worldWith(), 'lb-2': worldWith() };
    const { run, words } = await given(worlds, issue(), {
      vip: (appliances) => ({ networks, connect_to: appliances.get('lb-2')?.farms?.addresses }),
    });

    const { code, out } = await run(words);

    expect(code, out).toBe(0);
    expect(out.match(/; served/g)).toHaveLength(2);
  });
});
