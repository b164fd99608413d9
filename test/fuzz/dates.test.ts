import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backupDateToSeconds, certificateDateToSeconds } from '../../src/lib/text-date.ts';
import { fuzzing } from '../support/fuzz.ts';
import { edited } from './edited-text.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface Written {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Fields that a date may have, and some that none has. */
const written = fc.record({
  year: fc.oneof(fc.integer({ min: 1950, max: 2200 }), fc.integer({ min: 0, max: 9_999 })),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 0, max: 32 }),
  hour: fc.integer({ min: 0, max: 25 }),
  minute: fc.integer({ min: 0, max: 61 }),
  second: fc.integer({ min: 0, max: 61 }),
});

describe('a date of any year, month, day and time', () => {
  it('is the instant that the calendar says, or none where the calendar has no such date', () => {
    fc.assert(
      fc.property(written, (date) => {
        expect(certificateDateToSeconds(asCertificateDate(date))).toBe(byTheCalendar(date));
        expect(backupDateToSeconds(asBackupDate(date))).toBe(byTheCalendar(date));
      }),
      fuzzing('certificateDates'),
    );
  });
});

describe('a date that was damaged', () => {
  it('is none, or the one that the damaged text spells, and never the beginning of 1970', () => {
    fc.assert(
      fc.property(
        written.chain((date) =>
          fc.record({ certificate: edited(asCertificateDate(date)), backup: edited(asBackupDate(date)) }),
        ),
        ({ certificate, backup }) => {
          const ofCertificate = certificateDateToSeconds(certificate);
          const ofBackup = backupDateToSeconds(backup);

          if (ofCertificate !== undefined) {
            expect(asCertificateDate(fieldsOf(ofCertificate))).toBe(certificate.replace(/^(\w+) 0?(\d) /, '$1  $2 '));
          }
          if (ofBackup !== undefined) expect(asBackupDate(fieldsOf(ofBackup))).toBe(backup.replace(/ +/, '  '));
          for (const seconds of [ofCertificate, ofBackup]) {
            if (seconds === 0) expect(certificate + backup).toContain('1970');
            expect(seconds).not.toBeNaN();
          }
        },
      ),
      fuzzing('damagedDates'),
    );
  });
});

/**
 * Unix seconds by counting days, apart from the platform's dates; undefined for a date that there
 * is not.
 */
function byTheCalendar({ year, month, day, hour, minute, second }: Written): number | undefined {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  if (day < 1 || day > (lengths[month - 1] ?? 0) || hour > 23 || minute > 59 || second > 59) return undefined;
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  const dayOfYear = lengths.slice(0, month - 1).reduce((sum, length) => sum + length, 0) + day;
  // 1 January 1970 is day 719,163 of the calendar, whose first is 1 January of the year 1.
  return (before * 365 + leapDays + dayOfYear - 719_163) * 86_400 + hour * 3_600 + minute * 60 + second;
}

function fieldsOf(unixSeconds: number): Written {
  const date = new Date(unixSeconds * 1_000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

function asCertificateDate(date: Written): string {
  return `${months[date.month - 1]} ${String(date.day).padStart(2, ' ')} ${timeOf(date)} ${digits(date.year, 4)} GMT`;
}

function asBackupDate(date: Written): string {
  return `${digits(date.year, 4)}-${digits(date.month)}-${digits(date.day)}  ${timeOf(date)} UTC`;
}

function timeOf({ hour, minute, second }: Written): string {
  return [hour, minute, second].map((part) => digits(part)).join(':');
}

function digits(number: number, length = 2): string {
  return String(number).padStart(length, '0');
}
