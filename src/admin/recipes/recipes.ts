// Lists the recipes: repairs of several calls, such as the restart of a farm. A recipe only
// describes its steps and how to undo them. It sends nothing by itself: changes/run.ts makes its
// calls through the gateway, one step after another. When a step fails, run.ts runs its rollback if
// it has one, and otherwise prints the commands that undo the steps before it. Read on in recipe.ts
// and restart-farm.ts.

import { backup } from './backup.ts';
import type { CertificatesFolder } from './certificates-folder.ts';
import { createDeliver } from './deliver.ts';
import { installActivation } from './install-activation.ts';
import { drainBackend, restoreBackend } from './backend-maintenance.ts';
import type { Recipe } from './recipe.ts';
import { replaceCertificate } from './replace-certificate.ts';
import { restartFarm } from './restart-farm.ts';
import { sendLogs } from './send-logs.ts';

/** The recipes of the command `admin`. */
export const recipes: readonly Recipe[] = [
  drainBackend,
  restoreBackend,
  restartFarm,
  backup,
  replaceCertificate,
  installActivation,
  sendLogs,
];

/** Returns all recipes of a gateway; a delivery may take certificates from a folder. */
export function allRecipes(folder?: CertificatesFolder): readonly Recipe[] {
  return [...recipes, createDeliver(folder)];
}
