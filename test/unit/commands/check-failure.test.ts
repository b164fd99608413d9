import { expect, it } from 'vitest';
import { ApplianceError } from '../../../src/appliance/errors.ts';
import { failureOf } from '../../../src/commands/check/probe.ts';

it.each([
  ['timeout', true, undefined],
  ['timeout', false, 'timeout'],
  ['connect', true, 'connect'],
  ['server_error', false, undefined],
] as const)(
  'check after %s of a call that asks proxies (%s): cannot be polled because of %s',
  (reason, asksProxies, expected) => {
    const error = new ApplianceError(reason, { endpoint: '/stats/farms/{farmname}', message: 'refused' });

    expect(failureOf(error, { asksProxies })?.reason).toBe(expected);
  },
);
