import type { ConfiguredObject } from '../../../src/collectors/configured.ts';
import type { Difference } from '../../../src/history/event.ts';
import type { Call } from '../../../src/history/explanations.ts';

interface Backend {
  address: string;
  readonly had: string[];
  weight: string;
}
interface Service {
  readonly name: string;
  vhost: string;
  backends: Backend[];
  /** The addresses of all backends that it ever had: what deletes it deletes them, too. */
  readonly had: Set<string>;
}
interface Farm {
  /** Stays where the name is another one. */
  readonly number: string;
  name: string;
  vport: string;
  ttl: string;
  readonly services: Service[];
}

/** What a person can do: the call that does it, and its effect. */
export interface Action {
  readonly call: Call;
  readonly apply: () => unknown;
  /** What it writes, by {@link RandomAppliance.keysOf}. */
  readonly writes: Readonly<Record<string, string>>;
}

const farmRoute = '/farms/{farmname}';
const serviceRoute = `${farmRoute}/services/{service}`;

/** A small appliance, and what can be done to it. */
export class RandomAppliance {
  readonly #random: () => number;
  readonly #farms: Farm[] = [];
  readonly #numbers = new Map<string, string>();
  readonly #checks = ['http', 'tcp'].map((name) => ({ name, interval: '5', timeout: '5' }));
  #newest = 100;

  constructor(random: () => number) {
    this.#random = random;
    for (const name of ['shop', 'db']) this.#farms.push(this.#farm(name, ['web', 'api']));
  }

  get farms(): readonly string[] {
    return this.#farms.map(({ name }) => name);
  }

  /** Returns what a farm keeps, whatever its name. */
  numberOf(farm: string): string {
    return this.#numbers.get(farm) ?? '';
  }

  /** Returns what one reading sees: the list without a farm, else the farm; undefined if it is gone. */
  read(farmName?: string): readonly ConfiguredObject[] | undefined {
    if (farmName === undefined)
      return this.#farms.map(({ name, vport }) => ({ ...whole('farm', name, '', name), settings: { vport } }));
    const farm = this.#farms.find(({ name }) => name === farmName);
    return (
      farm && [
        { ...whole('farm', farmName, '', farmName), settings: { ttl: farm.ttl } },
        ...farm.services.flatMap(({ name: service, vhost, backends }) => [
          { ...whole('service', farmName, service, service), settings: { vhost } },
          ...backends.map(({ address, weight }, id) => ({
            ...whole('backend', farmName, service, address),
            id: String(id),
            settings: { weight },
          })),
        ]),
        ...this.#checks.map(({ name, ...settings }) => ({ ...whole('check', '', '', name), settings })),
      ]
    );
  }

  /** Returns the keys of what a difference is about, and the value that it has now. */
  keysOf({
    object,
    farm,
    service,
    name,
    setting,
    before,
    after = '',
  }: Difference): readonly (readonly [string, string])[] {
    const key = (of: string, what: string): string => [object, this.#numbers.get(farm), service, of, what].join('|');
    if (setting === 'name')
      return [
        [key(name, 'gone'), ''],
        [key(after, 'new'), ''],
      ];
    if (setting === '') return [[key(name, before === undefined ? 'new' : 'gone'), '']];
    // The order of services changes with one that is deleted and made again.
    return [[key(object === 'farm' ? '' : name, setting), setting === 'services' ? '' : after]];
  }

  /** Returns what a person does next; beside the gateway with values that no call sends. */
  action(isBeside: boolean): Action {
    const value = (): string => (isBeside ? this.#next() : String(1 + Math.floor(this.#random() * 3)));
    const farm = this.#pick(this.#farms);
    if (!farm) return this.#makeFarm();
    const service = this.#pick(farm.services);
    if (!service) return this.#makeService(farm);
    const backend = this.#pick(service.backends);
    if (!backend) return this.#makeBackend(farm, service);
    return this.#pick([
      () => this.#makeFarm(),
      // Nobody can know a name that no reading has seen.
      () => (farm.name.startsWith('farm') ? this.#makeFarm() : this.#renameFarm(farm)),
      () => this.#deleteFarm(farm),
      () => this.#setFarm(farm, value()),
      () => this.#setFarm(farm, value()),
      () => this.#makeService(farm),
      () => this.#deleteService(farm, service),
      () => this.#redirect(farm, service),
      ...Array.from({ length: 2 }, () => () => this.#setService(farm, service, value())),
      ...Array.from({ length: 3 }, () => () => this.#makeBackend(farm, service)),
      ...Array.from({ length: 3 }, () => () => this.#deleteBackend(farm, service, backend)),
      ...Array.from({ length: 2 }, () => () => this.#moveBackend(farm, service, backend)),
      ...Array.from({ length: 4 }, () => () => this.#setWeight(farm, service, backend, value())),
      ...Array.from({ length: 3 }, () => () => this.#setCheck(value())),
    ])!();
  }

  #makeFarm(): Action {
    const made = this.#farm(`farm${this.#next()}`, []);
    const { number, name, vport } = made;
    return {
      call: { route: 'POST /farms', params: {}, fields: { farmname: name, profile: null, vip: null, vport } },
      apply: () => this.#farms.push(made),
      writes: { [`farm|${number}||${name}|new`]: '' },
    };
  }

  #renameFarm(farm: Farm): Action {
    const { number, name } = farm;
    const newfarmname = `farm${this.#next()}`;
    this.#numbers.set(newfarmname, number);
    return {
      call: { route: `PUT ${farmRoute}`, params: { farmname: name }, fields: { newfarmname } },
      apply: () => (farm.name = newfarmname),
      writes: { [`farm|${number}||${name}|gone`]: '', [`farm|${number}||${newfarmname}|new`]: '' },
    };
  }

  #deleteFarm(farm: Farm): Action {
    const { number, name, services } = farm;
    return {
      call: { route: `DELETE ${farmRoute}`, params: { farmname: name }, fields: {} },
      apply: () => this.#farms.splice(this.#farms.indexOf(farm), 1),
      writes: {
        [`farm|${number}||${name}|gone`]: '',
        ...Object.assign({}, ...services.map((service) => goneWith(farm, service))),
      },
    };
  }

  #setFarm(farm: Farm, value: string): Action {
    const setting = this.#pick(['ttl', 'vport'] as const)!;
    const next = setting === 'vport' ? this.#next() : value;
    return {
      call: { route: `PUT ${farmRoute}`, params: { farmname: farm.name }, fields: { [setting]: next } },
      apply: () => (farm[setting] = next),
      writes: { [`farm|${farm.number}|||${setting}`]: next },
    };
  }

  #makeService({ number, name, services }: Farm): Action {
    const id =
      ['web', 'api', 's1', 's2'].find((each) => services.every((known) => known.name !== each)) ?? `s${this.#next()}`;
    return {
      call: { route: `POST ${farmRoute}/services`, params: { farmname: name }, fields: { id } },
      apply: () => services.push({ name: id, vhost: '', backends: [], had: new Set() }),
      writes: {
        [`service|${number}|${id}|${id}|new`]: '',
        [`service|${number}|${id}|${id}|vhost`]: '',
        [`farm|${number}|||services`]: '',
      },
    };
  }

  #deleteService(farm: Farm, service: Service): Action {
    return {
      call: { route: `DELETE ${serviceRoute}`, params: { farmname: farm.name, service: service.name }, fields: {} },
      apply: () => farm.services.splice(farm.services.indexOf(service), 1),
      writes: goneWith(farm, service),
    };
  }

  #redirect(farm: Farm, service: Service): Action {
    const { [`service|${farm.number}|${service.name}|${service.name}|gone`]: _stays, ...backends } = goneWith(
      farm,
      service,
    );
    return {
      call: {
        route: `PUT ${serviceRoute}`,
        params: { farmname: farm.name, service: service.name },
        fields: { redirect: null },
      },
      apply: () => (service.backends = []),
      writes: backends,
    };
  }

  #setService({ number, name }: Farm, service: Service, vhost: string): Action {
    return {
      call: { route: `PUT ${serviceRoute}`, params: { farmname: name, service: service.name }, fields: { vhost } },
      apply: () => (service.vhost = vhost),
      writes: { [`service|${number}|${service.name}|${service.name}|vhost`]: vhost },
    };
  }

  #makeBackend({ number, name }: Farm, service: Service): Action {
    const [address, fields] = this.#address();
    return {
      call: { route: `POST ${serviceRoute}/backends`, params: { farmname: name, service: service.name }, fields },
      apply: () => {
        service.backends.push({ address, had: [address], weight: '1' });
        service.had.add(address);
      },
      writes: { [`backend|${number}|${service.name}|${address}|new`]: '' },
    };
  }

  #deleteBackend(farm: Farm, service: Service, backend: Backend): Action {
    const key = `backend|${farm.number}|${service.name}`;
    return {
      call: { route: `DELETE ${serviceRoute}/backends/{backend}`, params: placeOf(farm, service, backend), fields: {} },
      apply: () => service.backends.splice(service.backends.indexOf(backend), 1),
      writes: Object.fromEntries(backend.had.map((address) => [`${key}|${address}|gone`, ''])),
    };
  }

  #moveBackend(farm: Farm, service: Service, backend: Backend): Action {
    const [address, fields] = this.#address();
    const key = `backend|${farm.number}|${service.name}`;
    return {
      call: { route: `PUT ${serviceRoute}/backends/{backend}`, params: placeOf(farm, service, backend), fields },
      writes: { [`${key}|${backend.address}|gone`]: '', [`${key}|${address}|new`]: '' },
      apply: () => {
        backend.address = address;
        backend.had.push(address);
        service.had.add(address);
      },
    };
  }

  #setWeight(farm: Farm, service: Service, backend: Backend, weight: string): Action {
    return {
      call: {
        route: `PUT ${serviceRoute}/backends/{backend}`,
        params: placeOf(farm, service, backend),
        fields: { weight },
      },
      writes: { [`backend|${farm.number}|${service.name}|${backend.address}|weight`]: weight },
      apply: () => (backend.weight = weight),
    };
  }

  #setCheck(value: string): Action {
    const check = this.#pick(this.#checks)!;
    // The appliance sets both.
    const settings = this.#pick([{ interval: value, timeout: value }, { timeout: value }])!;
    const [setting = ''] = Object.keys(settings);
    return {
      call: { route: 'PUT /monitoring/fg/{name}', params: { name: check.name }, fields: { [setting]: value } },
      writes: Object.fromEntries(Object.keys(settings).map((each) => [`check|||${check.name}|${each}`, value])),
      apply: () => Object.assign(check, settings),
    };
  }

  #farm(name: string, services: readonly string[]): Farm {
    const number = this.#next();
    this.#numbers.set(name, number);
    const backends = (): Backend[] =>
      Array.from({ length: 3 }, () => {
        const [address] = this.#address();
        return { address, had: [address], weight: this.#pick(['1', '2'])! };
      });
    return {
      number,
      name,
      vport: this.#next(),
      ttl: '5',
      services: services.map((service) => {
        const own = backends();
        return { name: service, vhost: '', backends: own, had: new Set(own.map(({ address }) => address)) };
      }),
    };
  }

  #address(): readonly [address: string, fields: Call['fields']] {
    const ip = `10.0.0.${this.#next()}`;
    return [`${ip}:80`, { ip, port: '80' }];
  }

  #next(): string {
    this.#newest += 1;
    return String(this.#newest);
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}

function whole(object: ConfiguredObject['object'], farm: string, service: string, name: string) {
  return { object, farm, service, name };
}

function placeOf({ name }: Farm, service: Service, backend: Backend) {
  return { farmname: name, service: service.name, backend: String(service.backends.indexOf(backend)) };
}

/** Returns what is gone with a service. */
function goneWith({ number }: Farm, { name, had }: Service): Readonly<Record<string, string>> {
  const keys = [
    `service|${number}|${name}|${name}|gone`,
    ...[...had].map((address) => `backend|${number}|${name}|${address}|gone`),
  ];
  return Object.fromEntries(keys.map((key) => [key, '']));
}
