import { backup } from './backup.ts';
import { installActivation } from './install-activation.ts';
import { drainBackend, restoreBackend } from './maintenance.ts';
import type { Recipe } from './recipe.ts';
import { replaceCertificate } from './replace-certificate.ts';
import { restartFarm } from './restart-farm.ts';
import { sendLogs } from './send-logs.ts';

/** The recipes that every gateway has; {@link createDeliver} makes another one. */
export const recipes: readonly Recipe[] = [
  drainBackend,
  restoreBackend,
  restartFarm,
  backup,
  replaceCertificate,
  installActivation,
  sendLogs,
];
