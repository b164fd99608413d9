import { createFiles, type Files } from './config/files.ts';

/**
 * A configuration that can be read again, on request or because a file that it names has changed.
 * It is in force when the given function has applied it; if that rejects, the one before stays in
 * force.
 */
export interface ConfigurationSource<Configuration> {
  /** Reads all of it. Rejects with a ConfigError, or as `apply` does. */
  read<Result>(apply: (configuration: Configuration) => Promise<Result>): Promise<Result>;
  /**
   * Reads the files that the main file in force names: keys, certificates, lists of appliances.
   * Resolves to undefined if none of them has changed.
   */
  readChanged<Result>(apply: (configuration: Configuration) => Promise<Result>): Promise<Result | undefined>;
  /** False if the main file that was read last was refused. */
  readonly isMainInForce: boolean;
}

export interface ConfigurationSourceParts<Configuration> {
  /** Path of the main file; undefined where the environment is the configuration. */
  readonly path: string | undefined;
  readonly load: (files: Files) => Promise<Configuration>;
}

export function createConfigurationSource<Configuration>({
  path,
  load,
}: ConfigurationSourceParts<Configuration>): ConfigurationSource<Configuration> {
  let inForce: Files | undefined;
  /**
   * Compared with the disk. Includes the files of a refused change, or it would be refused again
   * and again.
   */
  let watched: Files | undefined;
  let isMainInForce = true;

  async function applyFrom<Result>(
    files: Files,
    apply: (configuration: Configuration) => Promise<Result>,
  ): Promise<Result> {
    const result = await apply(await load(files));
    inForce = files;
    return result;
  }

  return {
    get isMainInForce() {
      return isMainInForce;
    },
    async read(apply) {
      const files = createFiles({ path });
      try {
        return await applyFrom(files, apply);
      } finally {
        isMainInForce = files.mainText === inForce?.mainText;
        // Of a refused main file nothing is watched but what the main file in force names.
        if (isMainInForce) watched = files;
      }
    },
    async readChanged(apply) {
      if (!inForce || !(await watched?.haveChanged())) return undefined;
      const files = createFiles({ path, kept: inForce.mainText });
      watched = files;
      return await applyFrom(files, apply);
    },
  };
}
