import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applianceUrl } from '../../../src/config/readers.ts';

describe('the address of an appliance', () => {
  it.each([
    ['https://192.0.2.10', 'https://192.0.2.10:444/'],
    ['192.0.2.10', 'https://192.0.2.10:444/'],
    ['lb.example.org:8443', 'https://lb.example.org:8443/'],
    ['HTTPS://LB.example.org', 'https://lb.example.org:444/'],
    ['https://lb.example.org:443', 'https://lb.example.org/'],
    ['https://lb.example.org:/', 'https://lb.example.org:444/'],
    ['https://[2001:db8::10]', 'https://[2001:db8::10]:444/'],
    ['[2001:db8::10]:443', 'https://[2001:db8::10]/'],
    ['https://lb.example.org/zapi/v4.0/zapi.cgi', 'https://lb.example.org:444/zapi/v4.0/zapi.cgi'],
    ['https://lb.example.org:445/a:1/', 'https://lb.example.org:445/a:1/'],
  ])('%s is completed to %s', (text, href) => {
    const outcome = applianceUrl(text);

    expect('value' in outcome && outcome.value.href).toBe(href);
  });

  it('is always https without user, query and fragment, and a refusal never repeats it', () => {
    const piece = fc.constantFrom(...'https:// http: // @ u:CANARY ? # : 444 lb / [::1] \\'.split(' '), ' ', '%');
    const address = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

    fc.assert(
      fc.property(address, (text) => {
        const outcome = applianceUrl(text);

        const { protocol, username, password, search, hash } = 'value' in outcome ? outcome.value : new URL('https:h');
        expect({ protocol, rest: username + password + search + hash }).toEqual({ protocol: 'https:', rest: '' });
        expect('problem' in outcome ? outcome.problem : '').not.toContain('CANARY');
      }),
      { numRuns: 2_000 },
    );
  });
});
