import { describe, expect, it } from 'vitest';
import { interfaces } from '../../../src/collectors/interfaces.ts';
import { collectFrom, linesOf, refusal } from './given-replies.ts';

const traffic = (...rows: object[]) => ({ params: { interfaces: rows } });
const eth0 = { name: 'eth0', type: 'nic', ip: '192.0.2.5', mac: '02:00:5e:10:00:01', status: 'up' };
const virtual = { name: 'eth0:web', type: 'virtual', ip: '192.0.2.20', mac: '02:00:5e:10:00:01', status: '' };

describe('the interfaces collector', () => {
  it('writes traffic in bytes, and states with the address and the parent', async () => {
    const vlan = { ...eth0, name: 'eth0.100', type: 'vlan', ip: '10.10.0.2', status: 'down' };

    const collected = await collectFrom(interfaces, {
      readNetworkStats: traffic({ interface: 'eth0', in: '51240.77', out: 48211.03 }),
      listInterfaces: { interfaces: [eth0, vlan, virtual] },
      listVirtualInterfaces: { interfaces: [{ ...virtual, status: 'up', parent: 'eth0' }] },
    });

    expect(collected.text).toMatchInlineSnapshot(`
      "zlb_interface_receive_bytes_total{appliance="lb",interface="eth0"} 53729841644
      zlb_interface_transmit_bytes_total{appliance="lb",interface="eth0"} 50552928993
      zlb_interface_up{appliance="lb",interface="eth0"} 1
      zlb_interface_up{appliance="lb",interface="eth0.100"} 0
      zlb_interface_up{appliance="lb",interface="eth0:web"} 1
      zlb_interface_info{appliance="lb",interface="eth0",kind="nic",ip="192.0.2.5",mac="02:00:5e:10:00:01",parent=""} 1
      zlb_interface_info{appliance="lb",interface="eth0.100",kind="vlan",ip="10.10.0.2",mac="02:00:5e:10:00:01",parent="eth0"} 1
      zlb_interface_info{appliance="lb",interface="eth0:web",kind="virtual",ip="192.0.2.20",mac="02:00:5e:10:00:01",parent="eth0"} 1
      "
    `);
    expect(collected.states).toEqual(['interface eth0 up', 'interface eth0.100 down', 'interface eth0:web up']);
  });

  it('does not guess the missing state of a virtual interface', async () => {
    const collected = await collectFrom(interfaces, {
      readNetworkStats: traffic(),
      listInterfaces: { interfaces: [virtual] },
      listVirtualInterfaces: { interfaces: [] },
    });

    expect(linesOf(collected, 'zlb_interface_up')).toBe('');
    expect(collected.states).toEqual(['interface eth0:web unknown']);
    expect(linesOf(collected, 'zlb_interface_info')).toContain('parent="eth0"');
  });

  it('works without the list of virtual interfaces if the appliance has none, not if it fails', async () => {
    const replies = { readNetworkStats: traffic(), listInterfaces: { interfaces: [eth0] } };

    const without = await collectFrom(interfaces, replies);
    const failing = collectFrom(interfaces, { ...replies, listVirtualInterfaces: refusal('server_error') });

    expect(without.states).toEqual(['interface eth0 up']);
    await expect(failing).rejects.toMatchObject({ reason: 'server_error' });
  });

  it('reads empty lists, nulls and rows with only a name', async () => {
    const empty = await collectFrom(interfaces, {
      readNetworkStats: traffic(),
      listInterfaces: { interfaces: null },
      listVirtualInterfaces: { interfaces: null },
    });
    const bare = await collectFrom(interfaces, {
      readNetworkStats: traffic({ interface: 'eth0', in: null }),
      listInterfaces: { interfaces: [{ name: 'bond0' }] },
    });

    expect(empty.text).toBe('');
    expect(bare.text).toBe('zlb_interface_info{appliance="lb",interface="bond0",kind="",ip="",mac="",parent=""} 1\n');
  });
});
