import type { OperationCall } from '../../admin/operation.ts';
import type { Content, GatewayRequest } from './gateway-client.ts';

/** What goes along with an operation for the gateway itself. */
export interface Wishes {
  readonly confirm?: string | undefined;
  readonly reason?: string | undefined;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** The path of the gateway under which an appliance's API is. */
export function applianceBase(appliance: string): string {
  return `/appliances/${encodeURIComponent(appliance)}`;
}

export function requestFor(
  appliance: string,
  { operation, path }: OperationCall,
  content: Content | undefined,
  { confirm, reason, force = false, dryRun = false }: Wishes,
): GatewayRequest {
  return {
    method: operation.method,
    path: `${applianceBase(appliance)}${path}`,
    content,
    headers: {
      // Header values are ASCII; names and reasons are not always.
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
