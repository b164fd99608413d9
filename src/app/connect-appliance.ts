import { type ApplianceClient, type ClientOptions, createApplianceClient } from '../appliance/client.ts';
import { createDecoder } from '../appliance/decode.ts';
import { ApplianceError } from '../appliance/errors.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';

interface ConnectParts extends Partial<Pick<ClientOptions, 'decode' | 'now' | 'onCall'>> {
  readonly appliance: ApplianceSettings;
  readonly settings: Pick<Settings, 'polling' | 'limits'>;
}

/** Creates the client of one appliance from the settings, by default with its own decoder. */
export function connectAppliance({
  appliance,
  settings,
  decode = createDecoder(),
  ...parts
}: ConnectParts): ApplianceClient {
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
    decode,
    now: Date.now,
    onCall: () => undefined,
    ...parts,
  });
}

/**
 * Tries the key of an appliance with one read that every user may do; resolves to why that failed.
 */
export async function keyRefusal(parts: ConnectParts, signal: AbortSignal): Promise<ApplianceError | undefined> {
  const client = connectAppliance(parts);
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
