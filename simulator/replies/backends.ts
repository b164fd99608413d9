import { created, done, type Handlers, refuse, type Reply } from '../call.ts';
import {
  checkParameters,
  ipv4,
  type Model,
  number,
  portNumber,
  required,
  setNumbers,
  setTexts,
  text,
} from '../parameters.ts';
import { type DatalinkBackend, farmStatus, type L4Backend } from '../world-farms.ts';
import { httpBackend, l4Backend } from '../world-parts.ts';
import { flatBackends } from './farm-views.ts';
import { backendOf, flatFarmOf, httpFarmOf, l4FarmOf, pending, serviceOf } from './find.ts';

const oneToNine = { nonBlank: true, interval: [1, 9] } as const;
const httpModel: Model = {
  ip: ipv4,
  port: portNumber,
  timeout: { interval: [0, null] },
  weight: oneToNine,
  priority: oneToNine,
};
const l4Model: Model = {
  ip: ipv4,
  port: { interval: [1, 65_535] },
  weight: oneToNine,
  priority: oneToNine,
  max_conns: { nonBlank: true, interval: [0, null] },
};
const datalinkModel: Model = { ip: ipv4, interface: { nonBlank: true }, weight: oneToNine, priority: oneToNine };

/** Backends of farms. */
export const backendHandlers: Handlers = {
  // Backends of HTTP services and of L4xNAT and datalink farms (docs/api.md §4.2).
  'POST /farms/{farmname}/services/{service}/backends': (call) => {
    const farm = httpFarmOf(call);
    const service = serviceOf(call, farm);
    const input = checkParameters(call, { ...httpModel, ip: required(ipv4), port: required(portNumber) });
    if (service.redirect !== '') return refuse(400, 'The service redirects.');
    const made = httpBackend(service.backends.length, text(input, 'ip'), number(input, 'port', 0), {
      timeout: number(input, 'timeout', null),
      weight: number(input, 'weight', null),
      priority: number(input, 'priority', call.world.proxy === 'zproxy' ? null : 1),
    });
    service.backends.push(made);
    const { id, ip, port, timeout, weight, priority } = made;
    const ofProxy = call.world.proxy === 'zproxy' ? { priority, connection_limit: null } : {};
    const params = { id, ip, port, status: 'up', timeout, weight, ...ofProxy };
    return created('The backend is added.', params, pending(call, farm));
  },

  'PUT /farms/{farmname}/services/{service}/backends/{backend}': (call) => {
    const farm = httpFarmOf(call);
    const backend = backendOf(call, serviceOf(call, farm).backends);
    const input = checkParameters(call, httpModel);
    setTexts(backend, input, ['ip']);
    setNumbers(backend, input, ['port']);
    for (const name of ['timeout', 'weight', 'priority'] as const) backend[name] = number(input, name, backend[name]);
    // A weight is printed as text there.
    const params =
      call.world.proxy === 'zproxy' && 'weight' in input ? { ...input, weight: text(input, 'weight') } : input;
    return done('Backend modified.', { params, ...pending(call, farm) });
  },

  'DELETE /farms/{farmname}/services/{service}/backends/{backend}': (call) => {
    const farm = httpFarmOf(call);
    const service = serviceOf(call, farm);
    const gone = backendOf(call, service.backends);
    // The ids after it decrease by one (docs/api.md §4.2).
    service.backends = service.backends
      .filter((backend) => backend !== gone)
      .map((backend, id) => Object.assign(backend, { id }));
    return done('The backend is out.', { success: 'true', ...pending(call, farm) });
  },

  'POST /farms/{farmname}/backends': (call) => {
    const farm = l4FarmOf(call);
    const input = checkParameters(call, { ...l4Model, ip: required(ipv4) });
    const id = farm.backends.reduce((next, backend) => Math.max(next, backend.id + 1), 0);
    const ip = text(input, 'ip');
    const port = number(input, 'port', '');
    if (farm.backends.some((backend) => backend.ip === ip && backend.port === port))
      return refuse(400, 'The farm has this backend.');
    farm.backends.push(
      l4Backend(id, ip, port, {
        weight: number(input, 'weight', 1),
        priority: number(input, 'priority', 1),
        max_conns: number(input, 'max_conns', 0),
      }),
    );
    const params = flatBackends(call.world, farm).find((backend) => backend.id === id);
    return created('The backend is added.', params, { status: farmStatus(farm) });
  },

  'PUT /farms/{farmname}/backends/{backend}': (call) => {
    const farm = flatFarmOf(call);
    const backend = backendOf<L4Backend | DatalinkBackend>(call, farm.backends);
    const input = checkParameters(call, farm.profile === 'datalink' ? datalinkModel : l4Model);
    setTexts(backend, input, ['ip']);
    setNumbers(backend, input, ['weight', 'priority']);
    if ('max_conns' in backend) {
      setNumbers(backend, input, ['max_conns']);
      if ('port' in input) backend.port = number(input, 'port', '');
    }
    return done('The backend is changed.', { params: input });
  },

  'DELETE /farms/{farmname}/backends/{backend}': (call): Reply => {
    const farm = flatFarmOf(call);
    const { id } = backendOf<L4Backend | DatalinkBackend>(call, farm.backends);
    // Unlike in a service, the other ids do not change.
    const index = farm.backends.findIndex((backend) => backend.id === id);
    farm.backends.splice(index, 1);
    return done('The backend is out.');
  },
};
