import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ParserName, parsers } from '../../../src/config/parsers.ts';
import { hostileName } from '../../fuzz/hostile-names.ts';

const digits = 'AB'.repeat(32);
const pairs = digits.replaceAll(/..(?=.)/g, '$&:');

const accepted: Readonly<Partial<Record<ParserName, readonly (readonly [text: string, value: string | number])[]>>> = {
  byteSize: [
    ['512B', 512],
    ['500KB', 500_000],
    ['64KiB', 65_536],
    ['8MiB', 8_388_608],
    ['8 MiB', 8_388_608],
    ['1.5GiB', 1_610_612_736],
    ['2GB', 2_000_000_000],
  ],
  ratio: [
    ['99.9%', 0.999],
    ['99.99 %', 0.9999],
    ['7%', 0.07],
    ['0.1', 0.1],
  ],
  fingerprint: [digits, pairs, `sha256 Fingerprint=${pairs}`].map((text) => [text, digits.toLowerCase()]),
  schedule: [['  0  */5 * * *\t* ', '0 */5 * * * *']],
  // Also in the past.
  expiry: [
    ['2027-01-01', Date.UTC(2027, 0, 1)],
    ['2028-02-29', Date.UTC(2028, 1, 29)],
    ['2027-01-01T18:00+01:00', Date.UTC(2027, 0, 1, 17)],
    ['2027-01-01T18:00:30Z', Date.UTC(2027, 0, 1, 18, 0, 30)],
    ['2027-01-01T23:30:00.250-02:00', Date.UTC(2027, 0, 2, 1, 30, 0, 250)],
    ['1999-12-31', Date.UTC(1999, 11, 31)],
  ],
  applianceUrl: [
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
  ],
};

const size = 'must be a size such as 8MiB';
const address = 'must be HOST:PORT such as 127.0.0.1:9445';
const unreal = 'is a date or time that does not exist';
const ambiguous = 'must be a date such as 2027-01-01';
const refused: readonly (readonly [name: ParserName, problem: string, texts: readonly string[]])[] = [
  ['byteSize', size, ['', '8', '8M', '8mib', '8 MiB ', 'MiB', '-1B', '1e3B', '0x10B', '8TiB']],
  ['listenAddress', address, ['', '9445', 'localhost', '127.0.0.1:70000', '::1:9445', '[::g]:9445', '[1.2]:9445']],
  ['listenAddress', address, ['http://localhost:9445']],
  ['schedule', 'contains a range that no field allows', ['1-9999999 * * * * *', '0 0-99999999999 * * * *']],
  ['expiry', unreal, ['2027-02-29', '2027-13-01', '2027-04-31T10:00Z', '2027-01-01T25:00Z', '2027-01-01T10:00+99:99']],
  ['expiry', ambiguous, ['1.1.2027', '2027-01-01T10:00', '2027-01-01 10:00Z', '2027', '1798761600', '27-01-01']],
];

describe.each(Object.entries(accepted))('the parser %s', (name, texts) => {
  it.each(texts)('reads %j as %j', (text, value) => {
    const outcome = parsers[name as ParserName](text, {});

    expect('value' in outcome && (outcome.value instanceof URL ? outcome.value.href : outcome.value)).toBe(value);
  });
});

it.each(refused.flatMap(([name, problem, texts]) => texts.map((text) => [name, text, problem] as const)))(
  'the parser %s refuses %j: it %s',
  (name, text, problem) => {
    expect(parsers[name](text, {})).toEqual({ error: expect.stringContaining(problem) });
  },
);

it('the address of an appliance is always https without user, query and fragment, and a refusal never repeats it', () => {
  const piece = fc.constantFrom(...'https:// http: // @ u:CANARY ? # : 444 lb / [::1] \\'.split(' '), ' ', '%');
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

  fc.assert(
    fc.property(text, (written) => {
      const outcome = parsers.applianceUrl(written);

      const { protocol, username, password, search, hash } = 'value' in outcome ? outcome.value : new URL('https:h');
      expect({ protocol, rest: username + password + search + hash }).toEqual({ protocol: 'https:', rest: '' });
      expect('error' in outcome ? outcome.error : '').not.toContain('CANARY');
    }),
    { numRuns: 2_000 },
  );
});

/** Texts that are hard for regular expressions, for numbers, or for printing. */
const hostile = [
  ...'(a+)+$ ((a{1000}){1000}){1000} (?:a|a)*b [a- \\ 1e999 -0 0x10 .inf [::1 \0 \u2028 \ud800'.split(' '),
  ...['9', '1m', '*', ':', '0 ', ' ', '-----BEGIN PRIVATE KEY-----'].map((part) => part.repeat(20_000)),
  '*/0 * * * * *',
  '99999999999 * * * * *',
  '1-9999999 * * * * *',
  `${'1,'.repeat(20_000)}1 * * * * *`,
  `${'a'.repeat(50_000)}!`,
  `https://${'a.'.repeat(10_000)}`,
  'a\r\nb',
];

it.each(Object.keys(parsers) as ParserName[])(
  'the parser %s handles any text quickly, and a refusal is one short line',
  (name) => {
    const check = (text: string): void => {
      const outcome = parsers[name](text, {});
      expect('error' in outcome ? outcome.error : '').toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029]{0,400}$/u);
    };
    const before = process.threadCpuUsage();

    for (const text of hostile) check(text);
    fc.assert(fc.property(hostileName, check));

    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
  },
);
