import { backup } from '../../recipes/backup.ts';
import { drainBackend, restoreBackend } from '../../recipes/maintenance.ts';
import { installActivation } from './certificates/install-activation.ts';
import type { Recipe } from '../../recipes/recipe.ts';
import { replaceCertificate } from './certificates/replace-certificate.ts';
import { restartFarm } from '../../recipes/restart-farm.ts';

/** All recipes. */
export const recipes: readonly Recipe[] = [
  drainBackend,
  restoreBackend,
  restartFarm,
  replaceCertificate,
  installActivation,
  backup,
];
