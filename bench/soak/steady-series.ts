import { applianceOf } from './counters.ts';
import { ownText } from './own-text.ts';

/** Watches over appliances to which nothing happens: a series that was once there has to stay. */
export interface SteadySeries {
  /** Returns the series that are gone. */
  next(page: string): readonly string[];
}

export function createSteadySeries(appliances: ReadonlySet<string>): SteadySeries {
  const seen = new Set<string>();
  return {
    next(page) {
      const now = new Set(
        page
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'))
          .map((line) => line.slice(0, line.lastIndexOf(' ')))
          .filter((series) => appliances.has(applianceOf(series) ?? '')),
      );
      const gone = [...seen].filter((series) => !now.has(series));
      for (const series of now) if (!seen.has(series)) seen.add(ownText(series));
      return gone.map((series) => `${series} is gone`);
    },
  };
}
