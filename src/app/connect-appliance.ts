import { type ApplianceClient, type ClientOptions, createApplianceClient } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';

interface ConnectOptions extends Partial<Pick<ClientOptions, 'now' | 'onCall'>> {
  readonly resolver: ClientOptions['resolver'];
  readonly basePaths?: ClientOptions['basePaths'];
  readonly appliance: ApplianceSettings;
  readonly settings: Pick<Settings, 'polling' | 'limits'>;
}

export function connectAppliance({ appliance, settings, ...options }: ConnectOptions): ApplianceClient {
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
    ...options,
  });
}

/** Tries the key of an appliance with a read that every user may do; resolves to the error if it fails. */
export async function tryApiKey(
  { appliance, settings, resolver }: ConnectOptions,
  signal: AbortSignal,
): Promise<ApplianceError | undefined> {
  const client = connectAppliance({ appliance, settings, resolver });
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
