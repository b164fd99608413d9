import type { ApplianceError, FailureReason } from '../../appliance/errors.ts';
import { tryApiKey } from '../../app/connect-appliance.ts';
import { loadSettings } from '../../app/load-settings.ts';
import { assert, type Result } from '../../lib/check.ts';
import type { HostResolver } from '../../lib/host-resolver.ts';
import type { Secret } from '../../lib/secret.ts';
import { forbiddenIn } from '../check/findings.ts';
import { probeAppliance } from '../check/probe.ts';
import type { PinnedTls } from './entry.ts';

interface KeyCandidate {
  readonly name: string;
  readonly url: string;
  readonly apiKey: Secret;
  readonly tls: PinnedTls;
  readonly resolver: HostResolver;
}

/**
 * Tries an API key; resolves to its rights, for people, or to why it does not work and what to do
 * about it.
 */
export async function tryKey(candidate: KeyCandidate, stopped: AbortSignal): Promise<Result<string>> {
  const { name, url, apiKey, tls, resolver } = candidate;
  const settings = await loadSettings({
    content: { appliances: [{ name, url, api_key: apiKey.reveal(), tls }] },
    env: {},
  });
  const [appliance] = settings.appliances;
  assert(appliance, 'the settings have the appliance of their content');
  const shared = { appliance, settings, resolver, stopped };
  const refusal = await tryApiKey(shared, stopped);
  const refused = refusal && refusalText(refusal);
  return refused === undefined ? rightsOf(await probeAppliance(shared)) : { error: refused };
}

function rightsOf(probe: Awaited<ReturnType<typeof probeAppliance>>): Result<string> {
  const { failure } = probe;
  const forbidden = forbiddenIn({ probe }).join(', ');
  if (failure === undefined) {
    const missing = `The key may read farms. It may not read ${forbidden}: that is missing without a role for it (System > Users).`;
    return { value: forbidden === '' ? 'The key is accepted.' : missing };
  }
  if (failure.reason === 'forbidden') {
    const remedy = 'give its user a role that may, and a group that has the farms (System > Users)';
    return { error: `lets the key read no farms: it may not read ${forbidden}; ${remedy}` };
  }
  if (failure.reason !== 'unlicensed') return { error: `cannot be polled: ${failure.message}` };
  return {
    value:
      'The appliance is deactivated (402): the key is not refused, but nothing is known of the farms until a valid activation certificate is installed.',
  };
}

const refusals: Partial<Record<FailureReason, string>> = {
  unauthorized:
    'refuses the key: it is mistyped, was replaced or expired, or its user is disabled; make a new one for an enabled API user (System > Users)',
  tls: 'shows another certificate than a moment ago, and the key was not sent: repeat the command, and if the fingerprint changes again, find out who is in between',
  cancelled: 'was not asked to the end, because you stopped it',
};

function refusalText({ reason, message, status }: ApplianceError): string | undefined {
  // The key is checked before a licence (402) and a role (403).
  if (reason === 'unlicensed' || reason === 'forbidden') return undefined;
  if (refusals[reason] !== undefined) return refusals[reason];
  return status === undefined
    ? `did not answer (${message}); check the address, and firewalls in between`
    : `does not answer as the management API v4.0 does (${message}); check that the port is that of the web interface (usually 444)`;
}
