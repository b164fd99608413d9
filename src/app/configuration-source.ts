import { createFiles, type Files } from '../config/files.ts';
import type { Settings } from '../config/settings.ts';
import type { WebSettings } from '../config/web-settings.ts';
import { createFileAccess } from '../lib/file-access.ts';

export interface Configuration {
  readonly settings: Settings;
  /** Access to the metrics; if missing, everybody may read them over plain HTTP. */
  readonly web?: WebSettings | undefined;
  /** Its files with an API key or a private key that every user of the machine can read. */
  readonly exposedKeyFiles?: readonly string[] | undefined;
}

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** Called once a later configuration is applied; until then, the one before stays active. */
  readonly markActive: () => void;
}

/** A configuration that can be read again, on request or because a file that it names has changed. */
export class ConfigurationSource {
  readonly #paths: readonly string[];
  readonly #read: (files: Files) => Promise<Configuration>;
  /** Shared by all readings, so that a file that hangs is not read again meanwhile. */
  readonly #access = createFileAccess();
  #active: Files | undefined;
  #newest: Files | undefined;
  /**
   * Compared with the disk. Includes the files of a refused change, or it would be refused again
   * and again.
   */
  #watched: Files | undefined;

  /**
   * `paths` has the main files, which are read again on request alone: those of `--config.file` and
   * `--web.config.file`, as far as they are given.
   */
  constructor(paths: readonly string[], read: (files: Files) => Promise<Configuration>) {
    this.#paths = paths;
    this.#read = read;
  }

  /** False if the main files that `load` read last are not active. */
  get isMainActive(): boolean {
    return this.#paths.every((path) => this.#newest?.mainTexts.get(path) === this.#active?.mainTexts.get(path));
  }

  /** Reads all of it. Rejects with a ConfigError. */
  async load(): Promise<LoadedConfiguration> {
    const files = createFiles(this.#paths, { access: this.#access });
    this.#newest = files;
    try {
      return await this.#loadFrom(files);
    } finally {
      // If a main file is refused, only the files that the active ones name are watched.
      if (this.isMainActive) this.#watched = files;
    }
  }

  /**
   * Reads the files that the active main files name: API keys, certificates, lists of appliances.
   * Resolves to undefined if none of them has changed.
   */
  async loadChanged(): Promise<LoadedConfiguration | undefined> {
    if (!this.#active || !(await this.#watched?.haveChanged())) return undefined;
    const files = createFiles(this.#paths, { kept: this.#active.mainTexts, access: this.#access });
    this.#watched = files;
    return await this.#loadFrom(files);
  }

  async #loadFrom(files: Files): Promise<LoadedConfiguration> {
    const configuration = await this.#read(files);
    const markActive = (): void => {
      this.#active = files;
      this.#watched = files;
    };
    // The exporter starts with the first one, or not at all.
    if (!this.#active) markActive();
    return { configuration: { ...configuration, exposedKeyFiles: files.exposedKeyFiles }, markActive };
  }
}
