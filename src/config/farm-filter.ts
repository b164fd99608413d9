import type { ApplianceSettings } from './settings.ts';

/** True for a farm that `farms.include` names and `farms.exclude` does not. */
export function watchesFarm({ farms }: Pick<ApplianceSettings, 'farms'>, farm: string): boolean {
  return farms.include.some((pattern) => pattern.test(farm)) && !farms.exclude.some((pattern) => pattern.test(farm));
}
