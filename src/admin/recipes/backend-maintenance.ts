import { type Farm, isHttp } from '../../appliance/farm.ts';
import { uncheckedFarmName } from '../../appliance/safe-farm-name.ts';
import { AdminError, refusal } from '../policy/admin-error.ts';
import { jsonContent, type Write } from './calls.ts';
import { formatEndpoint } from '../../lib/address.ts';
import { adminCommand, shellWord } from '../../lib/text.ts';
import { formatDuration } from '../../lib/time.ts';
import { type BackendRow, findFarm, addressPhrase, readBackends, assertNotSilent, statusWords } from './farm.ts';
import { type RecipeContext, callStep, type Recipe, type Step, waitUntil } from './recipe.ts';

interface RecipeBackend {
  readonly farm: Farm;
  /** Undefined for an L4xNAT farm, whose backends belong to no service. */
  readonly service: string | undefined;
  readonly id: string;
  /** `10.20.0.11:8080`. */
  readonly address: string;
  readonly status: string;
  /** Null when the appliance does not say, and for an L4 farm. */
  readonly established: number | null;
  readonly othersUp: number;
}

const backendParameters = { farm: 'required', backend: 'required', service: 'optional' } as const;

/** Finds a backend by `ip:port` or id; rejects with an AdminError that lists those there are. */
async function findBackend(context: Pick<RecipeContext, 'calls' | 'knownFarms' | 'params'>): Promise<RecipeBackend> {
  const { farm: name = '', backend: wanted = '', service } = context.params;
  const farm = await findFarm(context, name);
  if (!isHttp(farm.profile) && farm.profile !== 'l4xnat')
    throw refusal(`${name} is a farm of the profile ${farm.profile}`, 'Its backends have no maintenance in the API.');
  assertNotSilent(context.calls, farm);
  if (farm.state === 'down') throw refusal(`${name} is down`, 'No backend of it serves anybody; start the farm first.');
  const rows = await readBackends(context, farm);
  const found = rows.filter(
    (row) => (row.id === wanted || addressOf(row) === wanted) && (service === undefined || row.service === service),
  );
  const [row, ...more] = found;
  if (!row) throw unknownBackend(name, rows);
  if (more.length > 0)
    throw refusal(
      `${wanted} means ${found.length} backends of ${name}`,
      `Say which: ${found.map(({ service: of, id }) => `${shellWord(`service=${of ?? ''}`)} ${shellWord(`backend=${id ?? ''}`)}`).join(', or ')}.`,
    );
  return toBackend(farm, row, rows);
}

async function rereadBackend({ calls }: Pick<RecipeContext, 'calls'>, known: RecipeBackend): Promise<RecipeBackend> {
  const rows = await readBackends({ calls }, known.farm);
  const row = rows.find(({ id, service }) => id === known.id && (service ?? undefined) === known.service);
  if (!row) throw unknownBackend(known.farm.name, rows);
  return toBackend(known.farm, row, rows);
}

function maintenanceWrite({ farm, service, id }: RecipeBackend, body: Readonly<Record<string, string>>): Write {
  const content = jsonContent(body);
  return service === undefined
    ? { operationId: 'setFarmBackendMaintenance', params: { farmname: farm.name, backend: id }, content }
    : { operationId: 'setServiceBackendMaintenance', params: { farmname: farm.name, service, backend: id }, content };
}

/** Returns `10.20.0.11:8080 (backend 0 of front)`. */
function backendTitle({ address, id, service, farm }: RecipeBackend): string {
  return `${address} (backend ${id} of ${service === undefined ? farm.name : `${farm.name}, service ${service}`})`;
}

function backendWords({ farm, service, id }: RecipeBackend): readonly string[] {
  return [`farm=${farm.name}`, ...(service === undefined ? [] : [`service=${service}`]), `backend=${id}`];
}

function toBackend(farm: Farm, row: BackendRow, rows: readonly BackendRow[]): RecipeBackend {
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

function addressOf({ ip, port }: BackendRow): string {
  return formatEndpoint(ip ?? '', port);
}

function unknownBackend(farm: string, rows: readonly BackendRow[]): AdminError {
  const known = rows.map((row) => `${addressOf(row)} (id ${row.id ?? '?'}${row.service ? ` of ${row.service}` : ''})`);
  return refusal(`${farm} has no such backend`, `It has ${known.join(', ') || 'none'}.`);
}

const drainWaitMs = 300_000;

export const drainBackend: Recipe = {
  name: 'drain-backend',
  about: 'take a backend out of service and wait until its connections are gone',
  parameters: backendParameters,
  async plan(context) {
    const backend = await findBackend(context);
    const { address, status, othersUp, farm } = backend;
    return {
      facts: [
        `Farm ${farm.name} (${farm.profile})${addressPhrase(farm)} is ${statusWords(farm.state)}.`,
        `Backend ${address} is ${status}${isHttp(farm.profile) ? `, ${connections(backend)}` : ''}; ${othersUp} beside it ${othersUp === 1 ? 'is' : 'are'} up.`,
      ],
      // A backend in maintenance is drained already.
      steps:
        status === 'maintenance'
          ? [drainedStep(context, backend)]
          : [drainStep(context, backend), drainedStep(context, backend)],
    };
  },
};

function drainStep({ calls }: RecipeContext, backend: RecipeBackend): Step {
  return callStep({
    title: `Set ${backendTitle(backend)} to maintenance, mode drain`,
    write: maintenanceWrite(backend, { action: 'maintenance', mode: 'drain' }),
    done: `${backend.address} gets no new connections.`,
    undoCommand: adminCommand(calls.appliance, 'restore-backend', ...backendWords(backend)),
  });
}

function drainedStep(context: RecipeContext, backend: RecipeBackend): Step {
  if (!isHttp(backend.farm.profile)) return l4DrainedStep(context, backend);
  const withinMs = context.waitMs ?? drainWaitMs;
  return {
    title: `Wait until its connections are gone, ${formatDuration(withinMs)} at most`,
    async run() {
      const startSteadyMs = context.steadyNow();
      await waitUntil(context, {
        read: () => rereadBackend(context, backend),
        isDone: ({ status, established }) => status === 'maintenance' && established === 0,
        describe: (seen) =>
          seen.status === 'maintenance' ? `still ${connections(seen)}` : `it is ${seen.status}, not in maintenance`,
        withinMs,
        remedy: `To wait longer, repeat the command with a longer --wait. To end the remaining connections and sessions: ${cutCommand(context, backend)}`,
      });
      return `No connections are left after ${formatDuration(context.steadyNow() - startSteadyMs)}.`;
    },
  };
}

const l4WaitMs = 60_000;

/**
 * Returns the step that asks once for the connections to a backend of an L4 farm: the only call
 * that knows them may start the farms' daemon, which cuts all L4 farms (docs/api.md §1.7).
 */
function l4DrainedStep(context: RecipeContext, backend: RecipeBackend): Step {
  const { farm, id } = backend;
  const waitMs = context.waitMs ?? l4WaitMs;
  return {
    title: `Wait ${formatDuration(waitMs)}, then ask once for its connections; if the daemon of L4 farms has died, this starts it and cuts all of them`,
    async run(_send, calls) {
      await waitUntil(context, {
        read: () => rereadBackend(context, backend),
        isDone: ({ status }) => status === 'maintenance',
        describe: ({ status }) => `it is ${status}, not in maintenance`,
        withinMs: l4WaitMs,
        remedy: 'Look at the farm in the web interface of the appliance.',
      });
      await context.sleep(waitMs);
      const { backends } = await calls.read('readFarmStats', { farmname: uncheckedFarmName(farm.name) });
      const seen = { established: (backends ?? []).find((row) => row.id === id)?.established ?? null };
      if (seen.established === 0) return 'No connections are left.';
      throw new AdminError('It is not drained', {
        detail: `It has ${connections(seen)}.`,
        remedy: `To look again, repeat the command with --wait: it asks once more. To end the remaining connections and sessions: ${cutCommand(context, backend)}`,
      });
    },
  };
}

function cutCommand({ calls }: RecipeContext, backend: RecipeBackend): string {
  const { operationId, params } = maintenanceWrite(backend, {});
  const values = Object.entries({ ...params, action: 'maintenance', mode: 'cut' });
  return adminCommand(calls.appliance, operationId, ...values.map(([name, value]) => `${name}=${value}`));
}

function connections({ established }: Pick<RecipeBackend, 'established'>): string {
  if (established === null) return 'connections unknown';
  return `${established} ${established === 1 ? 'connection' : 'connections'}`;
}

const restoreWaitMs = 60_000;

export const restoreBackend: Recipe = {
  name: 'restore-backend',
  about: 'bring a backend back from maintenance and see that it is up',
  parameters: backendParameters,
  async plan(context) {
    const backend = await findBackend(context);
    const withinMs = context.waitMs ?? restoreWaitMs;
    if (backend.status !== 'maintenance') {
      throw refusal(
        `${backendTitle(backend)} is ${backend.status}, not in maintenance`,
        'A backend that its health check put down comes back by itself.',
      );
    }
    return {
      facts: [`${backendTitle(backend)} is in maintenance.`],
      steps: [
        callStep({
          title: `Take ${backendTitle(backend)} out of maintenance`,
          write: maintenanceWrite(backend, { action: 'up' }),
          done: `${backend.address} may get connections again.`,
          undoCommand: adminCommand(context.calls.appliance, 'drain-backend', ...backendWords(backend)),
        }),
        {
          title: `See that it is up, within ${formatDuration(withinMs)}`,
          async run() {
            await waitUntil(context, {
              read: () => rereadBackend(context, backend),
              isDone: ({ status }) => status === 'up',
              describe: ({ status }) => `it is ${status}`,
              withinMs,
              remedy: 'Look at the server behind it and at its health check; it comes up by itself once both agree.',
            });
            return `${backend.address} is up.`;
          },
        },
      ],
    };
  },
};
