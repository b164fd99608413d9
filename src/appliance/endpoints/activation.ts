import { ActivationInfoReply, ActivationTextReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** The licence of the Enterprise Edition (docs/api.md §3.19). */
export const activationEndpoints = {
  readActivationCertificate: {
    route: 'GET /certificates/activation',
    area: 'activation',
    since: '4.0',
    risk: 'secret',
    body: 'none',
    summary: 'activation certificate text (Enterprise)',
    reply: ActivationTextReply,
  },
  uploadActivationCertificate: {
    route: 'POST /certificates/activation',
    area: 'activation',
    since: '4.0',
    risk: 'disruptive',
    body: 'text',
    summary: 'upload or replace the activation certificate (Enterprise)',
  },
  deleteActivationCertificate: {
    route: 'DELETE /certificates/activation',
    area: 'activation',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'remove the activation certificate, deactivates the appliance',
  },
  readActivationInfo: {
    route: 'GET /certificates/activation/info',
    area: 'activation',
    since: null,
    risk: 'read',
    body: 'none',
    summary: 'activation certificate summary: days to expire, host name, type (Enterprise)',
    reply: ActivationInfoReply,
  },
} as const satisfies Record<string, EndpointRow>;
