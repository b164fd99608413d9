import type { Guard } from './guard.ts';

/**
 * docs/api.md §4.6 and §4.7. Looks at nothing: which way leads to the appliance cannot be seen from
 * here.
 */
export const managementCut: Guard = {
  name: 'management_cut',
  effect: 'warns',
  operations: ['setHttpServer', 'removeGateway', 'removeIpv4Gateway', 'removeIpv6Gateway'],
  about: 'Some settings decide how the appliance itself is reached: the call can cut the way that it came by.',
  async inspect() {
    return [
      {
        severity: 'warning',
        message:
          'This decides how the appliance itself is reached: the answer may be lost, and from here it may be out of reach afterwards, for polling as well.',
        remedy: 'Have another way in, such as its console, and the right url in the configuration of the exporter.',
      },
    ];
  },
};
