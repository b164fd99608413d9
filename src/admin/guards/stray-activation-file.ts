import type { Guard } from './guard.ts';

/**
 * docs/api.md §5.5; a deactivated appliance answers the read with 402, which proves Enterprise (see
 * inspect.ts).
 */
export const strayActivationFile: Guard = {
  name: 'stray_activation_file',
  effect: 'refuses',
  operations: ['uploadActivationCertificate'],
  about:
    'The Community Edition has no activation: it stores what is uploaded as an ordinary file among its certificates.',
  async inspect({ read }) {
    const { params } = await read('readSystemInfo', {});
    if (params.edition === 'enterprise') return [];
    const is = params.edition ? `is the ${params.edition} edition` : 'does not say which edition it is';
    return [
      {
        severity: 'blocking',
        message: `The appliance ${is}; the Community Edition has no activation and would store the upload as a stray file, activation.pem.`,
        remedy: 'Send it to an Enterprise appliance.',
      },
    ];
  },
};
