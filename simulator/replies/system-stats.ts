import { type Call, type Handlers, read } from '../call.ts';
import { systemDate } from '../dates.ts';
import { allBackends } from '../world-farms.ts';
import { interfaceTraffic, wandering } from '../traffic.ts';

/** Reads under /stats/system, and /stats itself (docs/api.md §3.1 to §3.3). */
export const systemStatsHandlers: Handlers = {
  'GET /stats': (call) =>
    read({
      ...hostAndDate(call),
      cpu: cpu(call),
      load: loads(call),
      memory: call.world.load.memory,
      network: networkByLabel(call),
    }),

  'GET /stats/system/network': (call) =>
    read({
      ...hostAndDate(call),
      interfaces: traffic(call).map(({ name, alias, in: received, out }) => ({
        interface: name,
        in: received.toFixed(2),
        out: out.toFixed(2),
        alias: call.world.edition === 'enterprise' ? alias : undefined,
      })),
    }),

  'GET /stats/system/connections': ({ world, nowMs }) => {
    const own = [...world.farms.values()].flatMap((farm) => (farm.running ? allBackends(farm) : []));
    const tracked = own.reduce((sum, backend) => sum + backend.established + backend.pending, world.otherConnections);
    return read({ connections: Math.round(wandering(world, 'connections', tracked, nowMs)) });
  },
};

function hostAndDate({ world, nowMs }: Call) {
  return { hostname: world.hostname, date: systemDate(nowMs) };
}

function cpu({ world, nowMs }: Call) {
  const modes = Object.fromEntries(
    Object.entries(world.load.cpu).map(([mode, percent]) => [mode, rounded(wandering(world, mode, percent, nowMs))]),
  );
  const total = Object.values(modes).reduce((sum, percent) => sum + percent, 0);
  const usage = rounded(Math.min(100, total));
  return { cores: world.load.cores, ...modes, idle: rounded(100 - usage), usage };
}

function loads({ world, nowMs }: Call) {
  const [one, five, fifteen] = world.load.load;
  return {
    Last_1: rounded(wandering(world, 'load', one, nowMs)),
    Last_5: rounded(wandering(world, 'load', five, nowMs - 120_000)),
    Last_15: fifteen,
  };
}

// The word in the label is doubled, as recorded.
function networkByLabel(call: Call) {
  return Object.fromEntries(
    traffic(call).flatMap(({ name, in: received, out }) => [
      [`${name} in in`, rounded(received)],
      [`${name} out out`, rounded(out)],
    ]),
  );
}

function traffic({ world, nowMs }: Call) {
  return [...world.interfaces.values()].flatMap((nic) => {
    const counted = interfaceTraffic(world, nic, nowMs);
    return counted ? [{ ...nic, ...counted }] : [];
  });
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}
