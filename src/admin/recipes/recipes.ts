import { backup } from './backup.ts';
import { drainBackend, restoreBackend } from './maintenance.ts';
import type { Recipe } from './recipe.ts';
import { restartFarm } from './restart-farm.ts';

/** The recipes that need no file: a change may name them. */
export const changeRecipes: readonly Recipe[] = [drainBackend, restoreBackend, restartFarm, backup];
