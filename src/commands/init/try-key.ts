import type { ApplianceError, FailureReason } from '../../appliance/errors.ts';
import { keyRefusal } from '../../app/connect-appliance.ts';
import { loadSettings } from '../../app/load-settings.ts';
import { assert } from '../../lib/check.ts';
import type { Secret } from '../../lib/secret.ts';

interface Candidate {
  readonly name: string;
  readonly url: string;
  readonly key: Secret;
  readonly fingerprintSha256: string;
}

/** Tries a key; resolves to why it does not work, and what to do about it. */
export async function tryKey(candidate: Candidate, stopped: AbortSignal): Promise<string | undefined> {
  const { name, url, key, fingerprintSha256 } = candidate;
  const settings = await loadSettings({
    content: { appliances: [{ name, url, api_key: key.reveal(), tls: { fingerprint_sha256: fingerprintSha256 } }] },
    env: {},
  });
  const [appliance] = settings.appliances;
  assert(appliance, 'the settings have the appliance of their content');
  const refusal = await keyRefusal({ appliance, settings }, stopped);
  return refusal && textOf(refusal);
}

const refusals: Partial<Record<FailureReason, string>> = {
  unauthorized:
    'refuses the key: it is mistyped, was replaced or expired, or its user is disabled; make a new one for an enabled API user (System > Users)',
  tls: 'shows another certificate than a moment ago, and the key was not sent: repeat the command, and if the fingerprint changes again, find out who is in between',
  cancelled: 'was not asked to the end, because you stopped it',
};

function textOf({ reason, message, status }: ApplianceError): string | undefined {
  // The key is checked before a licence (402) and a role (403).
  if (reason === 'unlicensed' || reason === 'forbidden') return undefined;
  if (refusals[reason] !== undefined) return refusals[reason];
  return status === undefined
    ? `did not answer (${message}); check the address, and firewalls in between`
    : `does not answer as the management API v4.0 does (${message}); check that the port is that of the web interface (usually 444)`;
}
