import { createFiles, type Files } from './config/files.ts';

/** A configuration that can be read again, by somebody who says so or because a file that it names is another. */
export interface ConfigurationSource<Configuration> {
  /** All of it anew. Rejects with a ConfigError; what was read before stays in force. */
  read(): Promise<Configuration>;
  /**
   * The main file as it was read last, with what it points to as it is now: keys, certificates, lists of appliances.
   * Undefined while nothing of that changed.
   */
  readChanged(): Promise<Configuration | undefined>;
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
  /** What is compared with the disk; after a change that was refused its files, or it would be refused again and again. */
  let followed: Files | undefined;

  return {
    async read() {
      const files = createFiles({ path });
      const configuration = await load(files);
      inForce = files;
      followed = files;
      return configuration;
    },
    async readChanged() {
      if (!inForce || !followed || !(await followed.haveChanged())) return undefined;
      const files = createFiles({ path, kept: inForce.mainText });
      followed = files;
      const configuration = await load(files);
      inForce = files;
      return configuration;
    },
  };
}
