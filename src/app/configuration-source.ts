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

/** A configuration that can be read again, on request or because a file that it names has changed. */
export class ConfigurationSource {
  readonly #paths: readonly string[];
  readonly #readFrom: (files: Files) => Promise<Configuration>;
  /** Shared by all readings, so that a file that hangs is not read again meanwhile. */
  readonly #access = createFileAccess();
  /** The files of the configuration that is applied. */
  #active: Files | undefined;
  /** Those of the configuration that was read last, which may be applied next. */
  #read: Files | undefined;
  /** Those that `load` tried last, also if they were refused. */
  #tried: Files | undefined;
  /**
   * Compared with the disk. Includes the files of a refused change, or it would be refused again
   * and again.
   */
  #watched: Files | undefined;

  /**
   * `paths` has the main files, which are read again on request alone: those of `--config.file` and
   * `--web.config.file`, as far as they are given.
   */
  constructor(paths: readonly string[], readFrom: (files: Files) => Promise<Configuration>) {
    this.#paths = paths;
    this.#readFrom = readFrom;
  }

  /** False if the main files that `load` tried last are not active. */
  get isMainActive(): boolean {
    return this.#paths.every((path) => this.#tried?.mainTexts.get(path) === this.#active?.mainTexts.get(path));
  }

  /** Reads all of it. Rejects with a ConfigError. */
  async load(): Promise<Configuration> {
    const files = createFiles(this.#paths, { access: this.#access });
    this.#tried = files;
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
  async loadChanged(): Promise<Configuration | undefined> {
    if (!this.#active || !(await this.#watched?.haveChanged())) return undefined;
    const files = createFiles(this.#paths, { kept: this.#active.mainTexts, access: this.#access });
    this.#watched = files;
    return await this.#loadFrom(files);
  }

  /** Call it once the configuration that was loaded last is applied. */
  markActive(): void {
    this.#active = this.#read;
    this.#watched = this.#read;
  }

  async #loadFrom(files: Files): Promise<Configuration> {
    const configuration = await this.#readFrom(files);
    this.#read = files;
    // The exporter starts with the first one, or not at all.
    if (!this.#active) this.markActive();
    return { ...configuration, exposedKeyFiles: files.exposedKeyFiles };
  }
}
