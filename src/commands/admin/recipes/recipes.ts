import { backup } from './backup.ts';
import { drainBackend } from './drain-backend.ts';
import { installActivation } from './install-activation.ts';
import type { Recipe } from './recipe.ts';
import { replaceCertificate } from './replace-certificate.ts';
import { restartFarm } from './restart-farm.ts';
import { restoreBackend } from './restore-backend.ts';

/** All recipes. */
export const recipes: readonly Recipe[] = [
  drainBackend,
  restoreBackend,
  restartFarm,
  replaceCertificate,
  installActivation,
  backup,
];
