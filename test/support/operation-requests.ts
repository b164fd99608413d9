import type { EndpointRow, Method } from '../../src/appliance/api/row.ts';
import { fillTemplate, parseRoute } from '../../src/appliance/route.ts';
import type { GatewayCall } from './given-gateway.ts';

export interface OperationRequest {
  readonly method: Method;
  /** Below the base URL. */
  readonly path: string;
  readonly request: GatewayCall & { readonly headers: Readonly<Record<string, string>>; readonly body?: string };
}

const bodies = {
  json: { type: 'application/json', body: '{"action":"start","name":"x1","note":"Grüße"}' },
  text: { type: 'text/plain', body: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n' },
  pem: { type: 'application/x-pem-file', body: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n' },
  gzip: { type: 'application/gzip', body: 'H4sIAAAAAAAAAwMAAAAAAAAAAAA=' },
  none: {},
} as const;

const names: Readonly<Record<string, string>> = {
  farmname: 'shop',
  service: 'web',
  backend: '0',
  file: 'shop.pem',
  name: 'eth0:web',
  path: 'a/b',
  suffix: 's',
};

/** A request with all that the gateway asks for, so that nothing of it stands in the way. */
export function requestFor({ route, body }: EndpointRow): OperationRequest {
  const { method, template } = parseRoute(route);
  const params = Object.fromEntries(
    [...template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => [name, names[name] ?? 'x 1']),
  );
  const path = fillTemplate(template, params) ?? '';
  const confirm = decodeURIComponent(path.split('/').at(-1) ?? '');
  return {
    method,
    path,
    request: { ...bodies[body], headers: { 'x-confirm': confirm, 'x-force': 'true', 'x-reason': 'for a test' } },
  };
}
