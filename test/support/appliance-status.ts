import type { ApplianceStatus } from '../../src/poller/status.ts';

/** The status of an appliance of which nothing is known but what is given. */
export function applianceStatus(known: Partial<ApplianceStatus> & Pick<ApplianceStatus, 'name'>): ApplianceStatus {
  return {
    url: 'https://192.0.2.10:444',
    labels: {},
    up: undefined,
    deactivated: false,
    product: undefined,
    version: undefined,
    edition: undefined,
    hostname: undefined,
    breaker: 'closed',
    farms: undefined,
    certificates: undefined,
    activation: undefined,
    interfaces: undefined,
    series: 0,
    seriesLeftOut: 0,
    collectors: [],
    ...known,
  };
}
