import type { ApplianceSettings } from './settings.ts';

/** Characters of a name that are compared. A pattern with two wildcards takes the square of a name's length. */
const maxCompared = 128;

/** True for a farm that `farms.include` names and `farms.exclude` does not. */
export function watchesFarm({ farms }: Pick<ApplianceSettings, 'farms'>, farm: string): boolean {
  const name = farm.slice(0, maxCompared);
  return farms.include.some((pattern) => pattern.test(name)) && !farms.exclude.some((pattern) => pattern.test(name));
}
