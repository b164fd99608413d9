import { isHttp, type KnownFarm } from '../../appliance/farm.ts';
import { adminCommand } from '../../lib/text.ts';
import { ago, formatDuration } from '../../lib/time.ts';
import { AdminError } from '../policy/admin-error.ts';
import { jsonContent } from './calls.ts';
import { findFarm, addressPhrase, rereadFarm, readBackends, readFarmStatus, statusWords } from './farm.ts';
import { type Recipe, type RecipeContext, type Step, waitUntil } from './recipe.ts';

const defaultWaitMs = 120_000;

/** A farm with the numbers that are compared before and after a restart. */
export interface FarmReading extends KnownFarm {
  readonly backendsUp: number;
  readonly backends: number;
  /** 0 for a farm without the HTTP proxy: they are not read. */
  readonly established: number;
}

export const restartFarm: Recipe = {
  name: 'restart-farm',
  about: 'restart a farm, wait until it is up, and compare before and after',
  parameters: { farm: 'required' },
  async plan(context) {
    const before = await readState(context, context.params.farm ?? '');
    return {
      facts: [
        `Farm ${before.name} (${before.profile})${addressPhrase(before)} is ${summary(before, context)}.`,
        ...(before.state === 'down' ? ['A restart starts it.'] : []),
        ...(isHttp(before.profile) && before.established > 0
          ? [`A restart drops its ${before.established} connections.`]
          : []),
      ],
      steps: restartSteps(context, before),
    };
  },
};

/** Returns the steps that restart, wait and compare; another recipe ends with them too. */
export function restartSteps(context: RecipeContext, before: FarmReading): readonly Step[] {
  const { calls } = context;
  const { name } = before;
  const withinMs = context.waitMs ?? defaultWaitMs;
  let after = before;
  const write = {
    operationId: 'actOnFarm',
    params: { farmname: name },
    content: jsonContent({ action: 'restart' }),
  } as const;
  return [
    {
      title: `Restart ${name}`,
      write,
      async run(send) {
        try {
          await send(write);
        } catch (error) {
          throw await withFarmState(context, name, error);
        }
        return `${name} was restarted.`;
      },
    },
    {
      title: `Wait until it is up${before.state === 'down' ? '' : ', or as good as before'}, ${formatDuration(withinMs)} at most`,
      async run() {
        after = await waitUntil(context, {
          read: async () => withBackends(context, await rereadFarm(context, before)),
          isDone: (seen) => hasRecovered(seen, before),
          describe: (seen) => `it is ${summary(seen, context)}`,
          backsOff: ({ isSilent = false }) => isSilent,
          withinMs,
          remedy: `If it is down: ${startCommand(calls.appliance, name)}. If backends are down: look at them first.`,
        });
        return `${name} is ${statusWords(after.state)}.`;
      },
    },
    {
      title: 'Compare before and after',
      // The last reading of the wait is a moment old.
      async run() {
        return `Before: ${summary(before, context)}. After, before all health checks have run again: ${summary(after, context)}.`;
      },
    },
  ];
}

export async function readState(
  context: Pick<RecipeContext, 'calls' | 'knownFarms'>,
  name: string,
): Promise<FarmReading> {
  return await withBackends(context, await findFarm(context, name));
}

export async function withBackends({ calls }: Pick<RecipeContext, 'calls'>, farm: KnownFarm): Promise<FarmReading> {
  // The statistics of a silent farm are empty, and late.
  const rows = farm.isSilent ? [] : await readBackends({ calls }, farm);
  return {
    ...farm,
    backends: rows.length,
    backendsUp: rows.filter(({ status }) => status === 'up').length,
    established: rows.reduce((sum, { established }) => sum + (established ?? 0), 0),
  };
}

/**
 * Compares the states; a backend that was down before may be down after. The status `needed
 * restart` hides the status before it (docs/api.md §2.1).
 */
function hasRecovered(after: FarmReading, before: FarmReading): boolean {
  if (after.state === 'up') return true;
  if (after.isSilent || after.state === 'down' || after.state === 'needed_restart') return false;
  return before.isSilent || before.state === 'down' ? after.backendsUp > 0 : after.backendsUp >= before.backendsUp;
}

function summary(
  { state, backends, backendsUp, isSilent, askedMs }: FarmReading,
  { now }: Pick<RecipeContext, 'now'>,
): string {
  if (isSilent) {
    const when =
      askedMs === undefined ? '' : ` (asked ${ago(askedMs, now())}, and not again: a look may never end there)`;
    return `silent: its proxy does not answer the appliance${when}, and a restart is the repair`;
  }
  if (state === 'down') return 'down, and its backends are unknown until it is up';
  return `${statusWords(state)}, ${backendsUp} of ${backends} backends up`;
}

/**
 * Adds the status of the farm to an error: a failed restart may leave the farm stopped (docs/api.md
 * §5.1).
 */
async function withFarmState(context: RecipeContext, name: string, error: unknown): Promise<unknown> {
  if (!(error instanceof AdminError)) return error;
  const status = await readFarmStatus(context, name).catch(() => 'unknown');
  const start = startCommand(context.calls.appliance, name);
  const isLate = error.status === 504 || error.code === 'upstream_timeout';
  const remedy = isLate
    ? `${hungDaemon} Otherwise start it: ${start}.`
    : `Put right what it names, then start it: ${start}.`;
  return new AdminError(error.title, {
    detail: `${error.message} The farm is ${statusWords(status)} now.`,
    remedy: status === 'down' ? remedy : error.remedy,
    code: error.code,
    requestId: error.requestId,
    status: error.status,
  });
}

/** The appliance stops the farm before it asks the daemon of L4 farms (docs/api.md §4.8). */
const hungDaemon =
  'Its daemon nftlb may hang: where the proxy is zproxy, the farm starts by itself when nftlb goes on. Look at nftlb on the appliance.';

function startCommand(appliance: string, farm: string): string {
  return adminCommand(appliance, 'actOnFarm', `farmname=${farm}`, 'action=start');
}
