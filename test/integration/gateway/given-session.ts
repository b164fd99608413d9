import { onTestFinished } from 'vitest';
import { inspectCall } from '../../../src/admin/policy/guards/inspect.ts';
import { createOperations, type OperationCall } from '../../../src/admin/policy/operation.ts';
import { createSession } from '../../../src/admin/calls/session.ts';
import { createApplianceClient } from '../../../src/appliance/client.ts';
import { createRelay } from '../../../src/appliance/relay.ts';
import { HostResolver } from '../../../src/lib/host-resolver.ts';
import { Secret } from '../../../src/lib/secret.ts';
import type { World } from '../../../simulator/world.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';

const operations = createOperations();

/** The call of a request such as `PUT /farms/shop/actions`. */
export function callOf(request: string): OperationCall {
  const [method = '', path = ''] = request.split(' ');
  return operations.find(method, path);
}

/** A simulated appliance, and the session of the gateway with it. */
export async function givenSession(world: World) {
  const apiKey = 'root-key';
  const appliance = await startSimulatedAppliance({ world, apiKey });
  const options = {
    url: new URL(appliance.url),
    tls: { fingerprintSha256: appliance.fingerprintSha256, insecureSkipVerify: false },
    apiKey: new Secret(apiKey),
    keyHeader: 'auto',
    resolver: new HostResolver(),
    timeoutMs: 30_000,
    maxConnections: 1,
    bodyBytes: 1_000_000,
  } as const;
  const relay = createRelay(options);
  const client = createApplianceClient({ ...options, now: Date.now, onCall: () => undefined });
  onTestFinished(async () => {
    await relay.close();
    await client.close();
    await appliance.close();
  });
  const { signal } = new AbortController();
  const slot = { signal, extendUntil: () => undefined };
  const session = createSession({
    appliance: { name: 'lb-1', relay, client, knownFarms: () => undefined },
    slot,
    timeoutMs: options.timeoutMs,
    signal,
  });
  return {
    appliance,
    session,
    /** Returns the findings of the guards, as names and severities. */
    findings: async (request: string, body: Record<string, unknown> = {}) => {
      const found = await inspectCall(callOf(request), body, session);
      return found.map(({ guard, severity }) => `${guard} ${severity}`);
    },
    /** Returns verb and path of the requests that arrived at the appliance. */
    arrived: () => appliance.requests.map(({ method, path }) => `${method} ${path}`),
  };
}
