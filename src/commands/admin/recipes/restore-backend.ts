import { formatDuration } from '../../../lib/time.ts';
import { AdminError } from '../admin-error.ts';
import {
  backendParameters,
  backendTitle,
  backendWords,
  findBackend,
  rereadBackend,
  maintenanceWrite,
} from './backend.ts';
import { callStep, type Recipe } from './recipe.ts';
import { waitUntil } from './wait.ts';

const defaultWaitMs = 60_000;

export const restoreBackend: Recipe = {
  name: 'restore-backend',
  about: 'bring a backend back from maintenance and see that it is up',
  parameters: backendParameters,
  async plan(context) {
    const backend = await findBackend(context);
    const withinMs = context.waitMs ?? defaultWaitMs;
    if (backend.status !== 'maintenance') {
      throw new AdminError(`${backendTitle(backend)} is ${backend.status}, not in maintenance`, {
        detail: 'Nothing was changed.',
        remedy: 'A backend that its health check put down comes back by itself.',
      });
    }
    return {
      facts: [`${backendTitle(backend)} is in maintenance.`],
      steps: [
        callStep({
          title: `Take ${backendTitle(backend)} out of maintenance`,
          write: maintenanceWrite(backend, { action: 'up' }),
          done: `${backend.address} may get connections again.`,
          undo: `zlb-exporter admin ${context.calls.appliance} drain-backend ${backendWords(backend)}`,
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
