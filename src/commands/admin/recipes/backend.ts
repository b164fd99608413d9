import type { ReplyOf } from '../../../appliance/client.ts';
import { AdminError } from '../admin-error.ts';
import { jsonContent, type Write } from '../calls.ts';
import { type FarmSummary, findFarm, isHttpFarm } from './farm.ts';
import type { RecipeContext } from './recipe.ts';

type StatsRow = NonNullable<ReplyOf<'readFarmStats'>['backends']>[number];

/** A backend from the statistics of its farm, which alone have its health (docs/api.md §8, 10). */
export interface Backend {
  readonly farm: FarmSummary;
  /** Undefined for an L4xNAT farm, whose backends belong to no service. */
  readonly service: string | undefined;
  readonly id: string;
  /** `10.20.0.11:8080`. */
  readonly address: string;
  readonly status: string;
  /** Null when the appliance does not say. */
  readonly established: number | null;
  /** How many others of its service, or farm, are up. */
  readonly othersUp: number;
}

/** The parameters that name a backend. */
export const backendParameters = { farm: true, backend: true, service: false } as const;

/** Finds a backend by `ip:port` or id; rejects with an AdminError that lists those there are. */
export async function findBackend(context: Pick<RecipeContext, 'calls' | 'values'>): Promise<Backend> {
  const { farm: name = '', backend: wanted = '', service } = context.values;
  const farm = await findFarm(context, name);
  if (!isHttpFarm(farm) && farm.profile !== 'l4xnat')
    throw cannot(`${name} is a farm of the profile ${farm.profile}`, 'Its backends have no maintenance in the API.');
  if (farm.status === 'down') throw cannot(`${name} is down`, 'No backend of it serves anybody; start the farm first.');
  const rows = await readRows(context, name);
  const found = rows.filter(
    (row) => (row.id === wanted || addressOf(row) === wanted) && (service === undefined || row.service === service),
  );
  const [row, ...more] = found;
  if (!row) throw unknownBackend(name, rows);
  if (more.length > 0)
    throw cannot(
      `${wanted} means ${found.length} backends of ${name}`,
      `Say which: ${found.map((other) => `service=${other.service ?? ''} backend=${other.id ?? ''}`).join(', or ')}.`,
    );
  return toBackend(farm, row, rows);
}

/** Reads the same backend again. */
export async function rereadBackend({ calls }: Pick<RecipeContext, 'calls'>, known: Backend): Promise<Backend> {
  const rows = await readRows({ calls }, known.farm.name);
  const row = rows.find(({ id, service }) => id === known.id && (service ?? undefined) === known.service);
  if (!row) throw unknownBackend(known.farm.name, rows);
  return toBackend(known.farm, row, rows);
}

/** Returns the call that sets or ends maintenance of a backend. */
export function maintenanceWrite({ farm, service, id }: Backend, body: Readonly<Record<string, string>>): Write {
  const content = jsonContent(body);
  return service === undefined
    ? { key: 'setFarmBackendMaintenance', params: { farmname: farm.name, backend: id }, content }
    : { key: 'setServiceBackendMaintenance', params: { farmname: farm.name, service, backend: id }, content };
}

/** `10.20.0.11:8080 (backend 0 of front)`. */
export function backendTitle({ address, id, service, farm }: Backend): string {
  return `${address} (backend ${id} of ${service === undefined ? farm.name : `${farm.name}, service ${service}`})`;
}

/** Returns the words that name a backend on a command line. */
export function backendWords({ farm, service, id }: Backend): string {
  return `farm=${farm.name}${service === undefined ? '' : ` service=${service}`} backend=${id}`;
}

async function readRows({ calls }: Pick<RecipeContext, 'calls'>, farm: string): Promise<readonly StatsRow[]> {
  return (await calls.read('readFarmStats', { farmname: farm })).backends ?? [];
}

function toBackend(farm: FarmSummary, row: StatsRow, rows: readonly StatsRow[]): Backend {
  const service = row.service ?? undefined;
  const others = rows.filter((other) => other !== row && (other.service ?? undefined) === service);
  return {
    farm,
    service,
    id: row.id ?? '',
    address: addressOf(row),
    status: row.status ?? 'unknown',
    established: row.established ?? null,
    othersUp: others.filter(({ status }) => status === 'up').length,
  };
}

function addressOf({ ip, port }: StatsRow): string {
  const host = ip?.includes(':') ? `[${ip}]` : (ip ?? '');
  return port ? `${host}:${port}` : host;
}

function unknownBackend(farm: string, rows: readonly StatsRow[]): AdminError {
  const known = rows.map((row) => `${addressOf(row)} (id ${row.id ?? '?'}${row.service ? ` of ${row.service}` : ''})`);
  return cannot(`${farm} has no such backend`, `It has ${known.join(', ') || 'none'}.`);
}

function cannot(title: string, remedy: string): AdminError {
  return new AdminError(title, { detail: 'Nothing was changed.', remedy });
}
