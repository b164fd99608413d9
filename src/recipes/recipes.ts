import { backup } from './backup.ts';
import { drainBackend, restoreBackend } from './maintenance.ts';
import type { Recipe } from './recipe.ts';
import { restartFarm } from './restart-farm.ts';

/** The recipes that need no file of the person who runs them: a change request may name them. */
export const requestableRecipes: readonly Recipe[] = [drainBackend, restoreBackend, restartFarm, backup];
