import { createFiles, type Files } from './config/files.ts';

/**
 * A configuration that can be read again, by somebody who says so or because a file that it names is another. What is read is
 * handed over to be taken in, and in force once that is done; where it is refused, the one before stays so.
 */
export interface ConfigurationSource<Configuration> {
  /** All of it anew. Rejects with a ConfigError, or as `takeIn` does. */
  read<Result>(takeIn: (configuration: Configuration) => Promise<Result>): Promise<Result>;
  /**
   * The main file as it is in force, with what it points to as it is now: keys, certificates, lists of appliances.
   * Undefined while nothing of that changed.
   */
  readChanged<Result>(takeIn: (configuration: Configuration) => Promise<Result>): Promise<Result | undefined>;
  /** False while the main file that was read last is another than the one in force. */
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
  /** What is compared with the disk; after a change that was refused its files, or it would be refused again and again. */
  let followed: Files | undefined;
  let isMainInForce = true;

  async function takeInFrom<Result>(
    files: Files,
    takeIn: (configuration: Configuration) => Promise<Result>,
  ): Promise<Result> {
    const result = await takeIn(await load(files));
    inForce = files;
    return result;
  }

  return {
    get isMainInForce() {
      return isMainInForce;
    },
    async read(takeIn) {
      const files = createFiles({ path });
      try {
        return await takeInFrom(files, takeIn);
      } finally {
        isMainInForce = files.mainText === inForce?.mainText;
        // Of another main file that was refused nothing is followed but what the one in force names.
        if (isMainInForce) followed = files;
      }
    },
    async readChanged(takeIn) {
      if (!inForce || !(await followed?.haveChanged())) return undefined;
      const files = createFiles({ path, kept: inForce.mainText });
      followed = files;
      return await takeInFrom(files, takeIn);
    },
  };
}
