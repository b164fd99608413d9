import { backup } from './backup.ts';
import { drainBackend, restoreBackend } from './maintenance.ts';
import { installActivation } from './install-activation.ts';
import type { Recipe } from './recipe.ts';
import { replaceCertificate } from './replace-certificate.ts';
import { restartFarm } from './restart-farm.ts';

/** All recipes. */
export const recipes: readonly Recipe[] = [
  drainBackend,
  restoreBackend,
  restartFarm,
  replaceCertificate,
  installActivation,
  backup,
];
