import { type ApplianceClient, type ClientOptions, createApplianceClient } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';

interface ConnectParts extends Partial<Pick<ClientOptions, 'now' | 'onCall'>> {
  readonly names: ClientOptions['names'];
  readonly basePaths?: ClientOptions['basePaths'];
  readonly appliance: ApplianceSettings;
  readonly settings: Pick<Settings, 'polling' | 'limits'>;
}

export function connectAppliance({ appliance, settings, ...parts }: ConnectParts): ApplianceClient {
  const { url, tls, apiKey, adminApiKey, keyHeader } = appliance;
  return createApplianceClient({
    url,
    tls,
    apiKey,
    otherKey: adminApiKey,
    keyHeader,
    timeoutMs: settings.polling.timeoutMs,
    maxConnections: settings.polling.maxConcurrentPerAppliance,
    bodyBytes: settings.limits.bodyBytes,
    now: Date.now,
    onCall: () => undefined,
    ...parts,
  });
}

/**
 * Tries the key of an appliance with one read that every user may do; resolves to why that failed.
 */
export async function keyRefusal(
  { appliance, settings, names }: ConnectParts,
  signal: AbortSignal,
): Promise<ApplianceError | undefined> {
  const client = connectAppliance({ appliance, settings, names });
  try {
    await client.read('readSystemVersion', {}, signal);
    return undefined;
  } catch (error) {
    if (error instanceof ApplianceError) return error;
    throw error;
  } finally {
    await client.close();
  }
}
