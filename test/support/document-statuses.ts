import type { FailureReason } from '../../src/appliance/errors.ts';

/**
 * The eleven error statuses of the API document ("Errors"), with the reason for which each stands
 * here.
 */
export const documentStatuses: readonly (readonly [status: number, reason: FailureReason])[] = [
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [402, 'unlicensed'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [406, 'unavailable'],
  [409, 'conflict'],
  [410, 'gone'],
  [500, 'server_error'],
  [504, 'gateway_timeout'],
];
