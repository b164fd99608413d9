import { expect, it } from 'vitest';
import { interfacesCollector } from '../../../src/collectors/interfaces.ts';
import { collectFrom, linesOf, refusal } from './given-replies.ts';

const traffic = (...rows: object[]) => ({ params: { interfaces: rows } });
const eth0 = { name: 'eth0', type: 'nic', ip: '192.0.2.5', mac: '02:00:5e:10:00:01', status: 'up' };
const virtual = { name: 'eth0:web', type: 'virtual', ip: '192.0.2.20', mac: '02:00:5e:10:00:01', status: '' };

it('the interfaces collector writes a down interface, and the parent from the name of a VLAN', async () => {
  const vlan = { ...eth0, name: 'eth0.100', type: 'vlan', status: 'down' };
  const replies = { readNetworkStats: traffic(), listInterfaces: { interfaces: [vlan] } };

  const collected = await collectFrom(interfacesCollector, replies);

  expect(linesOf(collected, 'zlb_interface_up')).toMatch(/ 0$/);
  expect(linesOf(collected, 'zlb_interface_info')).toContain('parent="eth0"');
});

it('the interfaces collector makes no claim about the kind of an interface that a release omits', async () => {
  const { data } = await collectFrom(interfacesCollector, {
    readNetworkStats: traffic(),
    listInterfaces: { interfaces: [{ name: 'eth0', ip: '' }] },
    listVirtualInterfaces: { interfaces: [] },
  });

  expect(interfacesCollector.configuredObjects?.(data)?.map(({ settings }) => settings)).toEqual([{ ip: '' }]);
});

it('the interfaces collector does not guess the missing state of a virtual interface', async () => {
  const collected = await collectFrom(interfacesCollector, {
    readNetworkStats: traffic(),
    listInterfaces: { interfaces: [virtual] },
    listVirtualInterfaces: { interfaces: [] },
  });

  expect(linesOf(collected, 'zlb_interface_up')).toBe('');
  expect(collected.states).toEqual(['interface eth0:web unknown']);
  expect(linesOf(collected, 'zlb_interface_info')).toContain('parent="eth0"');
});

it('the interfaces collector works on an appliance without virtual interfaces, but fails when their list fails', async () => {
  const replies = { readNetworkStats: traffic(), listInterfaces: { interfaces: [eth0] } };

  const without = await collectFrom(interfacesCollector, replies);
  const failing = collectFrom(interfacesCollector, { ...replies, listVirtualInterfaces: refusal('server_error') });

  expect(without.states).toEqual(['interface eth0 up']);
  await expect(failing).rejects.toMatchObject({ reason: 'server_error' });
});

it('the interfaces collector reads empty lists, nulls and rows with only a name', async () => {
  const empty = await collectFrom(interfacesCollector, {
    readNetworkStats: traffic(),
    listInterfaces: { interfaces: null },
    listVirtualInterfaces: { interfaces: null },
  });
  const bare = await collectFrom(interfacesCollector, {
    readNetworkStats: traffic({ interface: 'eth0', in: null }),
    listInterfaces: { interfaces: [{ name: 'bond0' }] },
  });

  expect(empty.text).toBe('');
  expect(bare.text).toBe('zlb_interface_info{appliance="lb",interface="bond0",kind="",ip="",mac="",parent=""} 1\n');
});
