import { param, type Handlers } from '../call.ts';
import { checkParameters, ipv4, required, text } from '../parameters.ts';
import { done, refuse } from '../reply.ts';

/** Default gateways and floating addresses (docs/api.md §4.6). */
export const gatewayHandlers: Handlers = {
  ...changesOf('gateway', 'ipv4'),
  ...changesOf('gateway/ipv4', 'ipv4'),
  ...changesOf('gateway/ipv6', 'ipv6'),

  'PUT /interfaces/floating/{name}': (call) => {
    const description = 'Set a floating address';
    const nic =
      call.world.interfaces.get(param(call, 'name')) ?? refuse(404, description, 'There is no such interface.');
    nic.floatingIp = text(checkParameters(call, description, { floating_ip: required(ipv4) }), 'floating_ip');
    return done(description, 'The address is set.');
  },
  'DELETE /interfaces/floating/{name}': (call) => {
    const description = 'Remove a floating address';
    const nic =
      call.world.interfaces.get(param(call, 'name')) ?? refuse(404, description, 'There is no such interface.');
    if (nic.floatingIp === null) return refuse(400, description, 'It has none.');
    nic.floatingIp = null;
    return done(description, 'The address is removed.');
  },
};

function changesOf(path: string, family: 'ipv4' | 'ipv6'): Handlers {
  return {
    [`PUT /interfaces/${path}`]: (call) => {
      const description = 'Set the default gateway';
      const input = checkParameters(call, description, { address: { nonBlank: true }, interface: { nonBlank: true } });
      const present = call.world.settings.gateway[family];
      const next = {
        address: text(input, 'address') || present.address,
        interface: text(input, 'interface') || present.interface,
      };
      if (next.address === null || next.interface === null)
        return refuse(400, description, 'Address and interface are both needed.');
      if (!call.world.interfaces.has(next.interface)) return refuse(404, description, 'There is no such interface.');
      call.world.settings.gateway[family] = next;
      return done(description, 'The gateway is set.', { params: next });
    },
    [`DELETE /interfaces/${path}`]: (call) => {
      call.world.settings.gateway[family] = { address: null, interface: null };
      return done('Remove the default gateway', 'The gateway is removed.');
    },
  };
}
