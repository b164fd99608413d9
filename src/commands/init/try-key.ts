import { createDecoder } from '../../appliance/decode.ts';
import { loadSettings } from '../../app/load-settings.ts';
import { assert } from '../../lib/check.ts';
import type { Secret } from '../../lib/secret.ts';
import { checkAppliance } from '../check/check.ts';
import type { ApplianceCheck } from '../check/probe.ts';

interface Candidate {
  readonly name: string;
  readonly url: string;
  readonly key: Secret;
  readonly fingerprintSha256: string;
}

/** Tries a key, and each read of the polling with it. */
export async function tryKey(
  { name, url, key, fingerprintSha256 }: Candidate,
  stopped: AbortSignal,
): Promise<ApplianceCheck> {
  const settings = await loadSettings({
    content: { appliances: [{ name, url, api_key: key.reveal(), tls: { fingerprint_sha256: fingerprintSha256 } }] },
    env: {},
  });
  const [appliance] = settings.appliances;
  assert(appliance, 'the settings have the appliance of their content');
  return await checkAppliance({ appliance, settings, decode: createDecoder(), stopped });
}
