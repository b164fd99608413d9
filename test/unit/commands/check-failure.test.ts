import { expect, it } from 'vitest';
import { ApplianceError } from '../../../src/appliance/errors.ts';
import { sharedAddressNotes } from '../../../src/commands/check/notes.ts';
import { failureOf } from '../../../src/commands/check/probe.ts';

it.each([
  ['timeout', true, undefined],
  ['timeout', false, 'timeout'],
  ['connect', true, 'connect'],
  ['server_error', false, undefined],
] as const)(
  'check after %s of a call that queries proxies (%s) reports the reason %s',
  (reason, waitsForProxies, expected) => {
    const error = new ApplianceError(reason, { endpoint: '/stats/farms/{farmname}', message: 'refused' });

    expect(failureOf(error, { waitsForProxies })?.reason).toBe(expected);
  },
);

it('check names each appliance that shares its address with another one', () => {
  const appliances = ['https://192.0.2.10:444/', 'https://192.0.2.11:444', 'https://192.0.2.10:444/zapi/v4.0/zapi.cgi'];

  expect(sharedAddressNotes(appliances.map((url, index) => ({ name: `lb-${index}`, url: new URL(url) })))).toEqual([
    {
      text: 'lb-2 has the address 192.0.2.10:444 of lb-0: one appliance under two names is polled twice; remove one of them',
      isWrong: true,
    },
  ]);
});
