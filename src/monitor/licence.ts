import { steadyNow } from '../lib/steady-now.ts';
import type { Cron } from './cron.ts';

/** While an appliance refuses everything for want of a licence, only its activation is asked for, to find out when that is over. */
export interface Licence {
  start(): void;
  /** Why a collector need not ask. */
  skipReason(collector: string): 'unlicensed' | undefined;
  /** One module may answer 402 for itself (docs/api.md §8, 18): whether all is refused is for the activation to say. */
  doubt(): void;
  close(): void;
}

export interface LicenceParts {
  /** False while the appliance refuses everything for want of a licence. */
  readonly isLicensed: () => boolean | undefined;
  /** Whether there is a collector that finds out. */
  readonly canFindOut: boolean;
  readonly isFindingOut: () => boolean;
  readonly findOut: () => void;
  readonly cron: Cron;
}

/** While an appliance is deactivated, it is asked once a minute whether it still is. */
const whileUnlicensed = '0 * * * * *';
const betweenDoubtsMs = 60_000;

export function createLicence({ isLicensed, canFindOut, isFindingOut, findOut, cron }: LicenceParts): Licence {
  let doubtedAtMs = Number.NEGATIVE_INFINITY;
  let stopAsking = (): void => undefined;

  return {
    start() {
      stopAsking = cron.subscribe(whileUnlicensed, () => {
        if (isLicensed() === false) findOut();
      });
    },
    skipReason: (collector) =>
      isLicensed() === false && collector !== 'activation' && canFindOut ? 'unlicensed' : undefined,
    doubt() {
      if (isFindingOut() || steadyNow() - doubtedAtMs < betweenDoubtsMs) return;
      doubtedAtMs = steadyNow();
      findOut();
    },
    close: () => stopAsking(),
  };
}
