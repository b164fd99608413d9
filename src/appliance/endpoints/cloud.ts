import type { EndpointRow } from './row.ts';

/** Credentials at cloud providers, of unknown shape (docs/api.md §6). */
export const cloudEndpoints = {
  readAwsCredentials: {
    route: 'GET /aws/credentials',
    area: 'cloud',
    since: null,
    risk: 'secret',
    body: 'none',
    summary: 'aws credentials state (Enterprise)',
  },
  setAwsCredentials: {
    route: 'POST /aws/credentials',
    area: 'cloud',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'set aws credentials (Enterprise)',
  },
  setAwsSshKey: {
    route: 'PUT /aws/ssh',
    area: 'cloud',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'set the aws SSH key (Enterprise)',
  },
  readAzureCredentials: {
    route: 'GET /azure/credentials',
    area: 'cloud',
    since: null,
    risk: 'secret',
    body: 'none',
    summary: 'azure credentials state (Enterprise)',
  },
  setAzureCredentials: {
    route: 'POST /azure/credentials',
    area: 'cloud',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'set azure credentials (Enterprise)',
  },
  setAzureSshKey: {
    route: 'PUT /azure/ssh',
    area: 'cloud',
    since: null,
    risk: 'disruptive',
    body: 'json',
    summary: 'set the azure SSH key (Enterprise)',
  },
} as const satisfies Record<string, EndpointRow>;
