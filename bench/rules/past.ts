import type { Mood } from './appliance-worlds.ts';
import type { PastSample } from './history.ts';
import type { Sample } from './samples.ts';
import { scrapeSeconds, type Story } from './story.ts';

const daySeconds = 86_400;

/** What Prometheus has kept: what it scraped, and what was recorded by rules that look back at it. */
export function pastSamples(
  samples: readonly Sample[],
  story: Story,
  mood: Mood,
  nowSeconds: number,
): readonly PastSample[] {
  const since = (seconds: number) => () => String(nowSeconds - seconds);
  return samples.flatMap((sample, index): PastSample[] => {
    const scraped = { sample, course: story.past(sample, index), stepSeconds: scrapeSeconds };
    const { status, ...labels } = sample.labels;
    const recorded = (metric: string, parts: Partial<PastSample>) => ({
      ...scraped,
      ...parts,
      sample: { ...sample, metric, labels },
    });
    switch (sample.metric) {
      case 'zlb_farm_established_connections':
        return [scraped, recorded('zlb:farm_established_connections:min5m', { stepSeconds: 300 })];
      case 'zlb_interface_up':
        return [scraped, recorded('zlb:interface_up:max5m', { stepSeconds: 300 })];
      case 'zlb_packages_pending': {
        const course = since((mood === 'bad' ? 20 : 3) * daySeconds);
        return [scraped, recorded('zlb:packages_pending:since_timestamp_seconds', { course })];
      }
      case 'zlb_backend_status':
        if (status !== 'maintenance' || sample.value !== '1') return [scraped];
        return [scraped, recorded('zlb:backend_maintenance:since_timestamp_seconds', { course: since(3_600) })];
      default:
        return [scraped];
    }
  });
}
