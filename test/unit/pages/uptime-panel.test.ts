import { describe, expect, it } from 'vitest';
import type { FarmTime } from '../../../src/history/farm-times.ts';
import { uptimePanel } from '../../../src/pages/status/uptime-panel.ts';
import { markupText } from '../../../src/pages/html.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const nowMs = Date.UTC(2026, 10, 29, 12, 30);

const hour = (ago: number, parts: Partial<FarmTime>): FarmTime => ({
  spanMs: hourMs,
  fromMs: Date.UTC(2026, 10, 29, 12 - ago),
  up: 0,
  down: 0,
  maintenance: 0,
  ...parts,
});

describe('the availability of a farm', () => {
  it('is a share of the known time, and says how much is unknown', () => {
    const text = markupText(
      uptimePanel([hour(0, { up: 30 * minuteMs }), hour(1, { up: 56 * minuteMs, down: 4 * minuteMs })], nowMs),
    );

    expect(text).toContain('aria-label="Last 24 hours: up 95.555 % of the known 90 min, down 4 min, unknown 22 h"');
    expect(text).toContain('aria-label="Last 30 days: nothing is known, unknown 29 d"');
    expect(text).toContain('<title>2026-11-29 11:00 UTC: down 4 min, up 56 min</title>');
    expect(text).toContain('<title>2026-11-29 10:00 UTC: unknown 60 min</title>');
  });

  it('shows each period in a table, and a short outage as a visible bar', () => {
    const text = markupText(uptimePanel([hour(1, { up: 59 * minuteMs, down: minuteMs })], nowMs));

    expect(text.match(/<tr data-key/g)).toHaveLength(24 + 30);
    expect(Number(/class="down"[^>]* height="([\d.]+)"/.exec(text)?.[1])).toBeGreaterThan(5);
  });

  it('has a bar for a farm that is down now, also when its hour or its day has just begun', () => {
    const midnightMs = Date.UTC(2026, 10, 30);
    const now = { fromMs: midnightMs, up: 0, down: 3 * minuteMs, maintenance: 0 };
    const times = [
      { ...now, spanMs: hourMs },
      { ...now, spanMs: 24 * hourMs },
    ];

    const text = markupText(uptimePanel(times, midnightMs + 3 * minuteMs));

    const heights = [...text.matchAll(/<rect class="down"[^>]* width="8" height="([^"]*)"/g)].map(
      ([, height]) => height,
    );
    expect(heights).toEqual(['40.0', '40.0']);
  });

  it('is never rounded up to 100 percent', () => {
    const times = [hour(1, { up: hourMs - 100, down: 100 })];

    expect(markupText(uptimePanel(times, nowMs))).toContain('up 99.997 %');
  });

  it('says so when the history does not respond', () => {
    expect(markupText(uptimePanel(undefined, nowMs))).toContain('The history does not answer now');
  });
});
