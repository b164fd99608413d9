import { type Call, type Handler, type Handlers, json, named, param, read, refuse } from '../call.ts';
import { graphDate } from '../dates.ts';
import type { World } from '../world.ts';
import { farmOf } from './find.ts';

/** Days of each. */
const frequencies = new Map([
  ['daily', 1],
  ['weekly', 7],
  ['monthly', 30],
  ['yearly', 365],
]);
const systemGraphs = ['cpu', 'load', 'ram', 'swap'];
const disks = ['root/'];
/** A PNG of one pixel. */
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=\n';

/** Graph indexes and images. */
export const graphHandlers: Handlers = {
  'GET /graphs': ({ world }) =>
    json(200, { farms: farms(world), interfaces: interfaces(world), system: [...systemGraphs, { disks }] }),
  'GET /graphs/system': () => json(200, { system: [...systemGraphs, { disk: disks }] }),
  'GET /graphs/system/disk': () => read(disks),
  'GET /graphs/interfaces': ({ world }) => json(200, { interfaces: interfaces(world) }),
  'GET /graphs/farms': ({ world }) => json(200, { farms: farms(world) }),

  ...graphsAt('/graphs/system/cpu'),
  ...graphsAt('/graphs/system/load'),
  ...graphsAt('/graphs/system/ram'),
  ...graphsAt('/graphs/system/swap'),
  ...graphsAt('/graphs/system/disk/{mount}', undefined, 'graph'),
  ...graphsAt('/graphs/interfaces/{name}', (call) => named(call, call.world.interfaces, 'name')),
  ...graphsAt('/graphs/farms/{farmname}', farmOf),
};

/** Returns the calls for the graphs of one subject: all periods, one period, an interval. */
function graphsAt(path: string, check: (call: Call) => unknown = () => undefined, key = 'graphs'): Handlers {
  const all: Handler = (call) => {
    check(call);
    const graphs = [...frequencies].map(([frequency, length]) => ({
      frequency,
      graph: image,
      ...span(call.nowMs, length),
    }));
    return json(200, { graphs });
  };
  const period: Handler = (call) => {
    check(call);
    const length = frequencies.get(param(call, 'frequency'));
    return length === undefined
      ? refuse(400, 'Daily, weekly, monthly or yearly.')
      : json(200, { [key]: image, ...span(call.nowMs, length) });
  };
  const interval: Handler = (call) => {
    check(call);
    return json(200, { [key]: image, start_time: param(call, 'start'), last_time: param(call, 'end') });
  };
  return {
    [`GET ${path}`]: all,
    [`GET ${path}/{frequency}`]: period,
    [`GET ${path}/custom/start/{start}/end/{end}`]: interval,
  };
}

function span(nowMs: number, length: number) {
  return { start_time: graphDate(nowMs - length * 86_400_000), last_time: graphDate(nowMs) };
}

/** Returns the running farms: a graph needs data of a running farm. */
function farms(world: World): readonly string[] {
  return [...world.farms.values()]
    .filter(({ running }) => running)
    .map(({ name }) => name)
    .sort();
}

function interfaces(world: World): readonly string[] {
  return [...world.interfaces.values()].filter(({ traffic }) => traffic).map(({ name }) => name);
}
