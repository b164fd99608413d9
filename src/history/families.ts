import type { Family } from '../metrics/family.ts';
import { changeFamilies } from './change-counts.ts';
import { twinFamilies } from './twin-watch.ts';

/** All families of the history. */
export const historyFamilies: readonly Family[] = [...changeFamilies, ...twinFamilies];
