import type { CollectorFailure } from '../../monitor/status.ts';

type Reason = CollectorFailure['reason'];

const words: Readonly<Record<Reason, string>> = {
  timeout: 'no answer in time',
  connect: 'no connection',
  tls: 'its certificate is not the trusted one',
  bad_request: 'it does not understand the question',
  unauthorized: 'it refuses the API key',
  unlicensed: 'it is deactivated',
  forbidden: 'the API key may not read it',
  not_found: 'not found',
  method_not_allowed: 'the method is not allowed',
  unavailable: 'it is too busy',
  conflict: 'it is in conflict with something else',
  gone: 'gone',
  server_error: 'an error of the appliance',
  gateway_timeout: 'no answer in time from behind it',
  malformed: 'the answer makes no sense',
  oversize: 'the answer is too large',
  cancelled: 'given up',
  overlap: 'the run before is not over',
  breaker_open: 'calls are held back after failures',
  unsupported: 'it lacks what is read',
  stretched: 'put off to spare the appliance',
  farms_unknown: 'its farms are not known yet',
};

/** Why a reading fails, for people. */
export function reasonInWords(reason: Reason): string {
  return words[reason];
}
