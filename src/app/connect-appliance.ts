import { type ApplianceClient, type ClientOptions, createApplianceClient } from '../appliance/client.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';

export interface ConnectParts extends Pick<ClientOptions, 'decode' | 'now' | 'onCall'> {
  readonly appliance: ApplianceSettings;
  readonly settings: Pick<Settings, 'polling' | 'limits'>;
}

/** Creates the client of one appliance from the settings. */
export function connectAppliance({ appliance, settings, decode, now, onCall }: ConnectParts): ApplianceClient {
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
    now,
    onCall,
  });
}
