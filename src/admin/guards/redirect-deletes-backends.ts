import { backendText, configuredBackends, ownerOf } from './backends.ts';
import type { Guard } from './guard.ts';

/** docs/api.md §4.2. */
export const redirectDeletesBackends: Guard = {
  name: 'redirect_deletes_backends',
  effect: 'refuses',
  operations: ['updateService'],
  about: 'Setting a redirect on a service deletes all its backends; taking the redirect away does not bring them back.',
  async inspect(context) {
    const { redirect = null } = context.body;
    if (redirect === null || redirect === '') return [];
    const backends = (await configuredBackends(context)) ?? [];
    if (backends.length === 0) return [];
    return [
      {
        severity: 'blocking',
        message: `A redirect deletes all backends of ${ownerOf(context)}, ${backends.length} in number: ${backends.map(backendText).join(', ')}.`,
        remedy: 'Back up the configuration first, or give the redirect a service of its own.',
      },
    ];
  },
};
