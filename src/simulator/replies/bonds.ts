import { param, type Handlers } from '../call.ts';
import { anyText, checkParameters, list, required, text } from '../parameters.ts';
import { created, done, refuse } from '../reply.ts';
import { networkInterface } from '../world-parts.ts';
import { interfaceOf } from './interface-changes.ts';

const bondModes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'];

/** Bonds of network cards (Enterprise, docs/api.md §4.6). */
export const bondHandlers: Handlers = {
  'POST /interfaces/bonding': (call) => {
    const description = 'Make a bond';
    const input = checkParameters(call, description, {
      name: required({ pattern: /^\w{1,11}$/ }),
      mode: required({ values: bondModes }),
      slaves: required({ list: true }),
    });
    const name = text(input, 'name');
    const slaves = [...list(input, 'slaves')];
    if (call.world.interfaces.has(name)) return refuse(400, description, `There is an interface ${name}.`);
    call.world.interfaces.set(name, networkInterface(name, { type: 'bond', ip: '', mac: '02:00:5e:00:00:20', slaves }));
    return created(description, 'The bond is made.', {
      name,
      mode: text(input, 'mode'),
      slaves,
      status: 'up',
      mac: '02:00:5e:00:00:20',
    });
  },
  'POST /interfaces/bonding/{name}/slaves': (call) => {
    const description = 'Add a card to a bond';
    const bond = interfaceOf(call, 'bonding', description, 404);
    const slave = text(checkParameters(call, description, { name: required(anyText) }), 'name');
    bond.slaves?.push(slave);
    return created(description, 'The card is added.', { name: bond.name, slaves: bond.slaves });
  },
  'DELETE /interfaces/bonding/{name}/slaves/{slave}': (call) => {
    const description = 'Take a card out of a bond';
    const bond = interfaceOf(call, 'bonding', description, 404);
    const index = bond.slaves?.indexOf(param(call, 'slave')) ?? -1;
    if (index < 0) return refuse(404, description, 'There is no such card in it.');
    bond.slaves?.splice(index, 1);
    return done(description, 'The card is out.');
  },
};
