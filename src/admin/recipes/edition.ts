import { AdminError } from '../policy/admin-error.ts';
import type { RecipeContext } from './recipe.ts';

/**
 * The edition of an appliance. Only Enterprise appliances can be deactivated (docs/api.md §3.19).
 */
export type ApplianceEdition = 'community' | 'enterprise' | 'deactivated' | 'unknown';

export async function readEdition({ calls }: Pick<RecipeContext, 'calls'>): Promise<ApplianceEdition> {
  try {
    const { edition } = (await calls.read('readSystemInfo', {})).params;
    return edition === 'community' || edition === 'enterprise' ? edition : 'unknown';
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    if (error.status === 402) return 'deactivated';
    // Early releases have no such call.
    if (error.status === 404) return 'unknown';
    throw error;
  }
}
