import { ApplianceError } from '../appliance/errors.ts';
import { AdminProblem } from './problem.ts';

/** Returns the problem for the caller if the appliance gave no answer that can be forwarded. */
export function upstreamProblem(error: unknown, appliance: string, changes: boolean): AdminProblem {
  if (error instanceof AdminProblem) return error;
  if (!(error instanceof ApplianceError)) {
    return new AdminProblem('internal_error', {
      detail: 'The gateway failed.',
      remedy: 'Look into the log of the exporter for the request id.',
      cause: error,
    });
  }
  const details = {
    detail: `${appliance}: ${error.message}.`,
    remedy: changes ? `${repeatWithCare} ${remedyOf(error)}` : remedyOf(error),
    cause: error,
  };
  switch (error.reason) {
    case 'timeout':
    case 'gateway_timeout':
      return new AdminProblem('upstream_timeout', details);
    case 'cancelled':
      return new AdminProblem('caller_left', { ...details, detail: 'The caller left while the call was under way.' });
    case 'tls':
    case 'connect':
      return new AdminProblem('upstream_unreachable', details);
    case 'oversize':
      return new AdminProblem('upstream_oversize', details);
    case 'unauthorized':
      return new AdminProblem('upstream_unauthorized', details);
    case 'bad_request':
    case 'unlicensed':
    case 'forbidden':
    case 'not_found':
    case 'method_not_allowed':
    case 'unavailable':
    case 'conflict':
    case 'gone':
    case 'server_error':
    case 'malformed':
      return new AdminProblem('upstream_malformed', details);
  }
}

const repeatWithCare = 'The appliance may have carried it out: read the object before you repeat the call.';

function remedyOf({ reason }: ApplianceError): string {
  if (reason === 'tls')
    return 'Check tls of the appliance in the configuration; `zlb-exporter fingerprint` prints what it shows.';
  if (reason === 'oversize') return 'Raise admin.download_bytes if such an answer is expected.';
  if (reason === 'timeout') return 'Raise admin.timeout if the appliance is merely slow.';
  return 'Check with `zlb-exporter check` that the appliance can be reached and is one.';
}

/** Refuses the answers that must not reach a caller. */
export function refuseAnswer(status: number, appliance: string): void {
  // The appliance refused our key; the caller's token is valid.
  if (status === 401) {
    throw new AdminProblem('upstream_unauthorized', {
      detail: `${appliance} refused the key of the gateway with 401; nothing was changed.`,
      remedy: 'Check admin_api_key, or api_key where there is none, and that the API user is enabled on the appliance.',
    });
  }
  if (status < 200 || status > 599) {
    throw new AdminProblem('upstream_malformed', {
      detail: `${appliance} answered ${status}, which is no status of HTTP.`,
      remedy: strangerRemedy,
    });
  }
  // The API has no redirects, and a client that follows one would send its token to another host.
  if (status >= 300 && status < 400) {
    throw new AdminProblem('upstream_redirect', {
      detail: `${appliance} answered ${status} where the API has no such answer; it was not followed.`,
      remedy: strangerRemedy,
    });
  }
}

const strangerRemedy = 'Check the url of the appliance in the configuration: something else may be listening there.';
