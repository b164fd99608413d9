import type { Mood } from './appliance-worlds.ts';
import type { Sample } from './exporter-page.ts';

/** Returns the value of a sample at a time in Unix seconds. */
export type Course = (seconds: number) => string;

/** How the numbers of an appliance move. */
export interface Story {
  /** Returns the values of a sample from before the start of Prometheus. */
  past(sample: Sample, index: number): Course;
  /** Returns the values of a sample as it is scraped. */
  present(sample: Sample, index: number): Course;
}

export const scrapeSeconds = 15;
/** Longer than the alerts on backends that come and go, and on calls that fail, look back. */
export const badForSeconds = 1_200;

/** The past of a bad day is that of a usual one, until twenty minutes ago. */
export function createStory(mood: Mood, nowSeconds: number): Story {
  const usual: Story['present'] = (sample, index) => usualCourse(sample, index, nowSeconds);
  if (mood === 'usual') return { past: usual, present: usual };
  const troubled = (sample: Sample) => troubledCourse(sample, nowSeconds - badForSeconds);
  return {
    past: (sample, index) => troubled(sample) ?? usual(sample, index),
    present: (sample, index) => troubled(sample) ?? failedCourse(sample, nowSeconds) ?? usual(sample, index),
  };
}

function usualCourse({ metric, value }: Sample, index: number, nowSeconds: number): Course {
  const number = Number(value);
  if (/^zlb_collector_last_(success|attempt)_/.test(metric)) return (seconds) => String(seconds - 10);
  if (number === 0) return () => value;
  const step = (seconds: number) => Math.floor((seconds - nowSeconds) / scrapeSeconds);
  if (/^zlb_\w+(?<!admin_denied)_(total|bucket|sum|count)$/.test(metric))
    return (seconds) => String(number + step(seconds) + 10_000);
  if (/(_connections|_sessions|_load\d+|_used_bytes|_duration_seconds)$/.test(metric))
    return (seconds) => String(number + (((step(seconds) + 100_000) * (1 + (index % 3))) % 7));
  return () => value;
}

/**
 * One backend in ten is up for a minute, then down for one; every kind of call fails once a minute.
 */
function troubledCourse({ metric, labels }: Sample, sinceSeconds: number): Course | undefined {
  const minutes = (seconds: number) => Math.max(0, Math.floor((seconds - sinceSeconds) / 60));
  if (metric === 'zlb_collector_errors_total') return (seconds) => String(minutes(seconds));
  const { backend = '', status = '' } = labels;
  if (metric !== 'zlb_backend_status' || !/\.10:\d+$/.test(backend) || !['up', 'down'].includes(status))
    return undefined;
  return (seconds) => ((minutes(seconds) % 2 === 0) === (status === 'up') ? '1' : '0');
}

/**
 * No reading is newer than a day; what is shown is what the appliance said last. No client can
 * connect, or gets the right certificate.
 */
function failedCourse({ metric }: Sample, nowSeconds: number): Course | undefined {
  if (/^zlb_farm_(reachable|served_certificate_(in_store|valid_name))$/.test(metric)) return () => '0';
  if (metric === 'zlb_collector_success') return () => '0';
  if (metric === 'zlb_collector_last_success_timestamp_seconds') return () => String(nowSeconds - 86_400);
  return undefined;
}
