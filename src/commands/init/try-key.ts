import type { ApplianceError, FailureReason } from '../../appliance/errors.ts';
import { keyRefusal } from '../../app/connect-appliance.ts';
import { loadSettings } from '../../app/load-settings.ts';
import { assert } from '../../lib/check.ts';
import type { Names } from '../../lib/names.ts';
import type { Secret } from '../../lib/secret.ts';
import { forbiddenIn } from '../check/findings.ts';
import { probeAppliance } from '../check/probe.ts';
import type { PinnedTls } from './entry.ts';

interface TriedEntry {
  readonly name: string;
  readonly url: string;
  readonly key: Secret;
  readonly tls: PinnedTls;
  readonly names: Names;
}

interface KeyTrial {
  /** Why the key does not work, and what to do about it. */
  readonly refused?: string | undefined;
  /** The rights of the key, for people; empty if it does not work. */
  readonly rights: string;
}

export async function tryKey(candidate: TriedEntry, stopped: AbortSignal): Promise<KeyTrial> {
  const { name, url, key, tls, names } = candidate;
  const settings = await loadSettings({
    content: { appliances: [{ name, url, api_key: key.reveal(), tls }] },
    env: {},
  });
  const [appliance] = settings.appliances;
  assert(appliance, 'the settings have the appliance of their content');
  const parts = { appliance, settings, names, stopped };
  const refusal = await keyRefusal(parts, stopped);
  const refused = refusal && textOf(refusal);
  return refused === undefined ? rightsOf(await probeAppliance(parts)) : { refused, rights: '' };
}

function rightsOf(probe: Awaited<ReturnType<typeof probeAppliance>>): KeyTrial {
  const { failure } = probe;
  const forbidden = forbiddenIn({ probe }).join(', ');
  if (failure === undefined) {
    const missing = `The key may read farms. It may not read ${forbidden}: that is missing without a role for it (System > Users).`;
    return { rights: forbidden === '' ? 'The key is accepted.' : missing };
  }
  if (failure.reason === 'forbidden') {
    const remedy = 'give its user a role that may, and a group that has the farms (System > Users)';
    return { rights: '', refused: `lets the key read no farms: it may not read ${forbidden}; ${remedy}` };
  }
  if (failure.reason !== 'unlicensed') return { rights: '', refused: `cannot be polled: ${failure.message}` };
  return {
    rights:
      'The appliance is deactivated (402): the key is not refused, but nothing is known of the farms until a valid activation certificate is installed.',
  };
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
