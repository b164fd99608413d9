import type { OperationCall } from '../../admin/operation.ts';
import type { Content, GatewayRequest } from './gateway-client.ts';

/** What the headers of a request tell the gateway about a call. */
export interface CallOptions {
  readonly confirm?: string | undefined;
  readonly reason?: string | undefined;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Returns the gateway's path of an appliance. */
export function applianceBase(appliance: string): string {
  return `/appliances/${encodeURIComponent(appliance)}`;
}

export function requestFor(
  appliance: string,
  { operation, path }: OperationCall,
  content: Content | undefined,
  { confirm, reason, force = false, dryRun = false }: CallOptions,
): GatewayRequest {
  return {
    method: operation.method,
    path: `${applianceBase(appliance)}${path}`,
    content,
    headers: {
      // Header values are ASCII; names and reasons may hold other letters.
      ...(confirm === undefined ? {} : { 'x-confirm': encodeURIComponent(confirm) }),
      ...reasonHeader(reason),
      ...(force ? { 'x-force': 'true' } : {}),
      ...(dryRun ? { 'x-dry-run': 'true' } : {}),
    },
  };
}

export function reasonHeader(reason: string | undefined): Readonly<Record<string, string>> {
  return reason === undefined ? {} : { 'x-reason': encodeURIComponent(reason) };
}
