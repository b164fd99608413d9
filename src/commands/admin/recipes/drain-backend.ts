import { formatDuration } from '../../../lib/time.ts';
import {
  type Backend,
  backendParameters,
  backendTitle,
  backendWords,
  findBackend,
  rereadBackend,
  maintenanceWrite,
} from './backend.ts';
import { callStep, type Recipe, type RecipeContext, type Step } from './recipe.ts';
import { waitUntil } from './wait.ts';

const defaultWaitMs = 300_000;

export const drainBackend: Recipe = {
  name: 'drain-backend',
  about: 'take a backend out of service and wait until its connections are gone',
  parameters: backendParameters,
  async plan(context) {
    const backend = await findBackend(context);
    const { address, status, othersUp, farm } = backend;
    return {
      facts: [
        `Farm ${farm.name} (${farm.profile}) at ${farm.address} is ${farm.status}.`,
        `Backend ${address} is ${status}, ${connections(backend)}; ${othersUp} beside it ${othersUp === 1 ? 'is' : 'are'} up.`,
      ],
      // A backend in maintenance is drained already.
      steps:
        status === 'maintenance'
          ? [waiting(context, backend)]
          : [draining(context, backend), waiting(context, backend)],
    };
  },
};

function draining({ calls }: RecipeContext, backend: Backend): Step {
  return callStep({
    title: `Set ${backendTitle(backend)} to maintenance, mode drain`,
    write: maintenanceWrite(backend, { action: 'maintenance', mode: 'drain' }),
    done: `${backend.address} gets no new connections.`,
    undo: `zlb-exporter admin ${calls.appliance} restore-backend ${backendWords(backend)}`,
  });
}

function waiting(context: RecipeContext, backend: Backend): Step {
  const withinMs = context.waitMs ?? defaultWaitMs;
  return {
    title: `Wait until its connections are gone, ${formatDuration(withinMs)} at most`,
    async run() {
      const startedAt = context.now();
      await waitUntil(context, {
        read: () => rereadBackend(context, backend),
        isDone: ({ status, established }) => status === 'maintenance' && established === 0,
        describe: (seen) =>
          seen.status === 'maintenance' ? `still ${connections(seen)}` : `it is ${seen.status}, not in maintenance`,
        withinMs,
        remedy: `To wait longer, repeat the command with a longer --wait. To end the remaining connections and sessions: ${cutCommand(context, backend)}`,
      });
      return `No connections are left after ${formatDuration(context.now() - startedAt)}.`;
    },
  };
}

function cutCommand({ calls }: RecipeContext, backend: Backend): string {
  const { key, params } = maintenanceWrite(backend, {});
  const values = Object.entries({ ...params, action: 'maintenance', mode: 'cut' });
  return ['zlb-exporter admin', calls.appliance, key, ...values.map(([name, value]) => `${name}=${value}`)].join(' ');
}

function connections({ established }: Backend): string {
  if (established === null) return 'connections unknown';
  return `${established} ${established === 1 ? 'connection' : 'connections'}`;
}
