import { describe, expect, it } from 'vitest';
import { dateToSeconds } from '../../../src/appliance/text-date.ts';

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * `Nov  6 00:00:00 2025 GMT`, written apart from the parser: with the platform's own idea of the
 * calendar.
 */
function asCertificateDate(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1_000);
  const time = date.toISOString().slice(11, 19);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  return `${monthNames[date.getUTCMonth()]} ${day} ${time} ${date.getUTCFullYear()} GMT`;
}

describe('a date of a certificate', () => {
  it('round-trips on every day from 1970 to 2099, first and last second', () => {
    const days = Array.from({ length: Date.UTC(2100, 0, 1) / 86_400_000 }, (_, day) => day * 86_400);

    const wrong = days
      .flatMap((start) => [start, start + 86_399])
      .filter((seconds) => dateToSeconds(asCertificateDate(seconds)) !== seconds);

    expect(wrong).toEqual([]);
  });

  it.each([
    ['Nov  6 00:00:00 2025 GMT', '2025-11-06T00:00:00Z'],
    ['Dec  9 23:59:59 2026 GMT', '2026-12-09T23:59:59Z'],
    ['Nov 6 00:00:00 2025 GMT', '2025-11-06T00:00:00Z'],
    ['Nov 06 00:00:00 2025 GMT', '2025-11-06T00:00:00Z'],
    ['Feb 29 12:00:00 2028 GMT', '2028-02-29T12:00:00Z'],
    ['Jan  1 00:00:00 2050 GMT', '2050-01-01T00:00:00Z'],
    ['Jan 19 03:14:08 2038 GMT', '2038-01-19T03:14:08Z'],
    ['Dec 31 23:59:59 9999 GMT', '9999-12-31T23:59:59Z'],
  ])('is parsed from %s as %s', (text, iso) => {
    expect(dateToSeconds(text)).toBe(Date.parse(iso) / 1_000);
  });

  it.each([
    ['a signing request has none', 'NA'],
    ['a file that cannot be read has none', '-'],
    ['the text is empty', ''],
    ['the zone is another', 'Nov  6 00:00:00 2025 CET'],
    ['there is no zone', 'Nov  6 00:00:00 2025'],
    ['the year is a common one', 'Feb 29 12:00:00 2027 GMT'],
    ['1900 and 2100 are common years', 'Feb 29 12:00:00 2100 GMT'],
    ['the month has thirty days', 'Apr 31 00:00:00 2026 GMT'],
    ['there is no day 0', 'Nov  0 00:00:00 2025 GMT'],
    ['there is no hour 24', 'Nov  6 24:00:00 2025 GMT'],
    ['there is no minute 60', 'Nov  6 00:60:00 2025 GMT'],
    ['the month is in lower case', 'nov  6 00:00:00 2025 GMT'],
    ['the month is in upper case', 'NOV  6 00:00:00 2025 GMT'],
    ['the month is in another language', 'Dez  6 00:00:00 2025 GMT'],
    ['the year has two digits', 'Nov  6 00:00:00 25 GMT'],
    ['day and month could be either', '03/04/2026 00:00:00 GMT'],
    ['day and month could be either', '03-04-2026-00:00'],
    ['ISO has no zone', '2025-11-06T00:00:00'],
    ['ISO has no time', '2025-11-06'],
    ['the zone of RFC 5322 is a name', 'Thu, 06 Nov 2025 00:00:00 EST'],
    ['the zone offset is impossible', '2025-11-06T00:00:00+15:00'],
    ['the second is 61', 'Dec 31 23:59:61 2016 GMT'],
    ['UTCTime has no zone', '251106000000'],
    ['the number may be milliseconds', '1762387200000'],
    ['the number is short', '176238720'],
    ['there is more behind it', 'Nov  6 00:00:00 2025 GMT x'],
    ['a second line follows', 'Nov  6 00:00:00 2025 GMT\nx'],
  ])('is undefined when %s', (_, text) => {
    expect(dateToSeconds(text)).toBeUndefined();
  });
});

it.each([
  ['Nov  6 00:00:00 2025 UTC', '2025-11-06T00:00:00Z'],
  ['Nov  6 02:00:00 2025 +0200', '2025-11-06T00:00:00Z'],
  [' Nov  6 00:00:00 2025 GMT\n', '2025-11-06T00:00:00Z'],
  ['2025-11-06T00:00:00Z', '2025-11-06T00:00:00Z'],
  ['2025-11-06  00:00:00 UTC', '2025-11-06T00:00:00Z'],
  ['2025-11-06 00:00:00.500+05:30', '2025-11-05T18:30:00Z'],
  ['Thu, 06 Nov 2025 00:00:00 -0800', '2025-11-06T08:00:00Z'],
  ['6 Nov 2025 00:00 GMT', '2025-11-06T00:00:00Z'],
  ['20251106000000Z', '2025-11-06T00:00:00Z'],
  ['20251106013000+0130', '2025-11-06T00:00:00Z'],
  ['251106000000Z', '2025-11-06T00:00:00Z'],
  ['491231235959Z', '2049-12-31T23:59:59Z'],
  ['500101000000Z', '1950-01-01T00:00:00Z'],
  ['1762387200', '2025-11-06T00:00:00Z'],
  ['Dec 31 23:59:60 2016 GMT', '2017-01-01T00:00:00Z'],
])('a date in the form %j is parsed as %s', (text, iso) => {
  expect(dateToSeconds(text)).toBe(Date.parse(iso) / 1_000);
});
