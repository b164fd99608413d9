import type { Decode } from '../../appliance/decode.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import type { AdminSettings } from '../../config/admin-settings.ts';
import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import { connectAppliance } from '../../connect-appliance.ts';
import { dayOf } from '../../lib/day.ts';
import type { Ill } from './ill.ts';
import { ownCertificateLine } from './own-certificate.ts';

const soonMs = 14 * 86_400_000;

/** Where the gateway will listen, and for whom; then the tokens that are of no use, or soon will be. */
export function gatewayLines(admin: AdminSettings | undefined, nowMs: number): readonly string[] {
  if (!admin) return ['The admin gateway is off: the configuration has no admin block.'];
  const { listenAddress, tls, tokens, auditFile } = admin;
  const transport = tls ? (tls.clientCa === undefined ? 'TLS' : 'TLS with client certificates') : 'without TLS';
  const count = `${tokens.length} ${tokens.length === 1 ? 'token' : 'tokens'}`;
  const ends = tokens.flatMap(({ name, expiresAtMs }) => {
    if (expiresAtMs === undefined || expiresAtMs > nowMs + soonMs) return [];
    const day = dayOf(expiresAtMs);
    return [
      `  The token of ${name} ${expiresAtMs > nowMs ? 'expires' : 'expired'} on ${day}; zlb-exporter token makes one.`,
    ];
  });
  const certificate = tls ? [`  ${ownCertificateLine(tls.cert, 'the command admin does', nowMs)}`] : [];
  return [
    `The admin gateway: ${listenAddress} ${transport}, ${count}, audit in ${auditFile}.`,
    ...certificate,
    ...ends,
  ];
}

/** Tries the gateway's own key, by a read that every user may make; undefined when there is nothing to say. */
export async function adminKeyIll(
  appliance: ApplianceSettings,
  settings: Settings,
  decode: Decode,
  stopped: AbortSignal,
): Promise<Ill | undefined> {
  if (!settings.admin || !appliance.adminApiKey) return undefined;
  const client = connectAppliance({
    appliance: { ...appliance, apiKey: appliance.adminApiKey },
    settings,
    decode,
    now: Date.now,
    onCall: () => undefined,
  });
  try {
    await client.read('readSystemVersion', {}, stopped);
    return undefined;
  } catch (error) {
    // A deactivated appliance has looked at the key before it refused.
    if (error instanceof ApplianceError && error.reason === 'unlicensed') return undefined;
    return {
      finding: `The key of the gateway (admin_api_key) does not work: ${error instanceof Error ? error.message : 'unknown'}.`,
      remedy: [
        'Put the key of an enabled user there that may make changes (System > Users), or leave it out:',
        'the gateway then uses api_key.',
      ],
    };
  } finally {
    await client.close();
  }
}
