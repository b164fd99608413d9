import type { EndpointRow } from './row.ts';

/** Which health check watches which farm or service (docs/api.md §4.5). */
export const farmFarmguardianEndpoints = {
  // A check that does not fit takes every backend down.
  linkFarmguardianToFarm: {
    route: 'POST /farms/{farmname}/fg',
    area: 'farm-farmguardian',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'link a health check to an L4xNAT farm',
  },
  unlinkFarmguardianFromFarm: {
    route: 'DELETE /farms/{farmname}/fg/{fg}',
    area: 'farm-farmguardian',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'unlink a health check from an L4xNAT farm',
  },
  linkFarmguardianToService: {
    route: 'POST /farms/{farmname}/services/{service}/fg',
    area: 'farm-farmguardian',
    since: '4.0',
    risk: 'disruptive',
    body: 'json',
    summary: 'link a health check to a service',
  },
  unlinkFarmguardianFromService: {
    route: 'DELETE /farms/{farmname}/services/{service}/fg/{fg}',
    area: 'farm-farmguardian',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'unlink a health check from a service',
  },
} as const satisfies Record<string, EndpointRow>;
