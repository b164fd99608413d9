import { backupNamePrefix } from './backup-name-prefix.ts';
import type { Guard } from './guard.ts';
import { hardRestart } from './hard-restart.ts';
import { lastHealthyBackend } from './last-healthy-backend.ts';
import { maintenanceOnStoppedFarm } from './maintenance-on-stopped-farm.ts';
import { managementCut } from './management-cut.ts';
import { movesRestartFarm } from './moves-restart-farm.ts';
import { redirectDeletesBackends } from './redirect-deletes-backends.ts';
import { restartMayLeaveDown } from './restart-may-leave-down.ts';
import { stopFarm } from './stop-farm.ts';
import { strayActivationFile } from './stray-activation-file.ts';
import { unknownBackend } from './unknown-backend.ts';

/** All guards, in the order in which their findings are shown. */
export const allGuards: readonly Guard[] = [
  hardRestart,
  restartMayLeaveDown,
  stopFarm,
  maintenanceOnStoppedFarm,
  unknownBackend,
  lastHealthyBackend,
  redirectDeletesBackends,
  movesRestartFarm,
  backupNamePrefix,
  strayActivationFile,
  managementCut,
];
