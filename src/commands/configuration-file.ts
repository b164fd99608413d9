import { statSync } from 'node:fs';
import { hasEnvironmentAppliance } from '../config/environment.ts';
import { errorCode } from '../lib/check.ts';
import type { CommandContext } from './command.ts';

/** The configuration that packages, containers and install.sh create. */
export const installedFile = '/etc/zlb-exporter/zlb.yml';

/**
 * Returns the path of the configuration: from the flag, else from ZLB_CONFIG_FILE, else that of an
 * installation if it exists and no variable names an appliance. Undefined if there is none.
 */
export function configurationFile(
  { flags, env }: Pick<CommandContext, 'flags' | 'env'>,
  installed = installedFile,
): string | undefined {
  const named = flags['config.file'] ?? (env.ZLB_CONFIG_FILE || undefined);
  if (named !== undefined) return named;
  return !hasEnvironmentAppliance(env) && mayExist(installed) ? installed : undefined;
}

/** Returns true also for a file that this user cannot see: simulated appliances must not replace it. */
function mayExist(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(errorCode(error));
  }
}
