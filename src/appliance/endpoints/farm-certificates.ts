import type { EndpointRow } from './row.ts';

/** Certificates of HTTPS farms; a running farm takes a change at its next restart (docs/api.md §4.1). */
export const farmCertificatesEndpoints = {
  addFarmCertificate: {
    route: 'POST /farms/{farmname}/certificates',
    area: 'farm-certificates',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'add (CE: replace) the certificate of an HTTPS farm',
  },
  removeFarmCertificate: {
    route: 'DELETE /farms/{farmname}/certificates/{certificate}',
    area: 'farm-certificates',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'remove a certificate from an HTTPS farm (Enterprise)',
  },
  moveFarmCertificate: {
    route: 'POST /farms/{farmname}/certificates/{certificate}/actions',
    area: 'farm-certificates',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'move a certificate in the SNI list (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
