import type { Decode } from '../../appliance/decode.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import type { AdminSettings } from '../../config/admin-settings.ts';
import type { ApplianceSettings, Settings } from '../../config/settings.ts';
import { connectAppliance } from '../../app/connect-appliance.ts';
import { dayOf } from '../../lib/time.ts';
import { certificateEndsAtMs } from '../../http/web-policy.ts';
import type { Finding } from './failure-finding.ts';
import type { Note } from './report.ts';

const soonMs = 14 * 86_400_000;

/**
 * Returns notes about the listener of the gateway and its tokens that have expired or will soon
 * expire.
 */
export function gatewayNotes(admin: AdminSettings | undefined, nowMs: number): readonly Note[] {
  if (!admin) return [{ text: 'The admin gateway is off: the configuration has no admin block.' }];
  const { listenAddress, tls, tokens, auditFile } = admin;
  const transport = tls ? (tls.clientCa === undefined ? 'TLS' : 'TLS with client certificates') : 'without TLS';
  const count = `${tokens.length} ${tokens.length === 1 ? 'token' : 'tokens'}`;
  const ends = tokens.flatMap(({ name, expiresAtMs }) => {
    if (expiresAtMs === undefined || expiresAtMs > nowMs + soonMs) return [];
    const day = dayOf(expiresAtMs);
    const ends = expiresAtMs > nowMs ? 'expires' : 'expired';
    return [{ text: `  The token of ${name} ${ends} on ${day}; zlb-exporter token makes one.`, isWrong: true }];
  });
  const certificate = tls ? [indented(ownCertificateNote(tls.cert, 'the command admin does', nowMs))] : [];
  return [
    { text: `The admin gateway: ${listenAddress} ${transport}, ${count}, audit in ${auditFile}.` },
    ...certificate,
    ...ends,
  ];
}

/**
 * Tries the gateway's own key with a read that every user may do; resolves to undefined when the
 * key works.
 */
export async function adminKeyFinding(
  appliance: ApplianceSettings,
  settings: Settings,
  decode: Decode,
  stopped: AbortSignal,
): Promise<Finding | undefined> {
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
    // A deactivated appliance checks the key before it refuses with 402.
    if (error instanceof ApplianceError && error.reason === 'unlicensed') return undefined;
    return {
      text: `The key of the gateway (admin_api_key) does not work: ${error instanceof Error ? error.message : 'unknown'}.`,
      remedy: [
        'Use the key of an enabled user with the right to change (System > Users), or leave it out:',
        'the gateway then uses api_key.',
      ],
    };
  } finally {
    await client.close();
  }
}

function indented(note: Note): Note {
  return { ...note, text: `  ${note.text}` };
}

/**
 * Returns a note about the end of one of the exporter's own certificates; `clients` (a clause)
 * refuse an expired one.
 */
export function ownCertificateNote(cert: string, clients: string, nowMs: number): Note {
  const endsAtMs = certificateEndsAtMs({ cert });
  if (endsAtMs > nowMs) return { text: `Its certificate is valid until ${dayOf(endsAtMs)}.` };
  return {
    text: `Its certificate EXPIRED on ${dayOf(endsAtMs)}: clients that check it, as ${clients}, refuse to connect. Renew it.`,
    isWrong: true,
  };
}
