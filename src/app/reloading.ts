import type { Logger } from 'pino';
import { createFiles, type Files } from '../config/files.ts';
import { ConfigError } from '../config/problems.ts';
import type { Settings } from '../config/settings.ts';
import type { WebSettings } from '../config/web-settings.ts';
import { ListenError, RestartNeededError } from '../lib/listen.ts';
import type { ReloadOutcome } from '../server/metrics-app.ts';
import { toError } from '../lib/check.ts';
import { FileKindError } from '../lib/disk.ts';
import { createFileAccess } from '../lib/file-access.ts';
import type { SelfMetrics } from '../metrics/self.ts';

export interface Configuration {
  readonly settings: Settings;
  /** Access to the metrics; if missing, everybody may read them over plain HTTP. */
  readonly web?: WebSettings | undefined;
  /** Its files with keys that every user of the machine can read. */
  readonly openKeys?: readonly string[] | undefined;
}

/**
 * A configuration that can be read again, on request or because a file that it names has changed.
 * It is in force when the given function has applied it; if that rejects, the one before stays in
 * force.
 */
export interface ConfigurationSource {
  /** Reads all of it. Rejects with a ConfigError, or as `apply` does. */
  read<Result>(apply: (configuration: Configuration) => Promise<Result>): Promise<Result>;
  /**
   * Reads the files that the main files in force name: keys, certificates, lists of appliances.
   * Resolves to undefined if none of them has changed.
   */
  readChanged<Result>(apply: (configuration: Configuration) => Promise<Result>): Promise<Result | undefined>;
  /** False if the main files that were read last were refused. */
  readonly isMainInForce: boolean;
}

/**
 * Creates a source. `paths` has the main files, which are read again on request alone: those of
 * `--config.file` and `--web.config.file`, as far as they are given.
 */
export function createConfigurationSource(
  paths: readonly string[],
  load: (files: Files) => Promise<Configuration>,
): ConfigurationSource {
  /** Shared by all readings, so that a file that hangs is not read again meanwhile. */
  const access = createFileAccess();
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
    const configuration = await load(files);
    const result = await apply({ ...configuration, openKeys: files.openKeys });
    inForce = files;
    return result;
  }

  return {
    get isMainInForce() {
      return isMainInForce;
    },
    async read(apply) {
      const files = createFiles(paths, { access });
      try {
        return await applyFrom(files, apply);
      } finally {
        isMainInForce = paths.every((path) => files.mainTexts.get(path) === inForce?.mainTexts.get(path));
        // If a main file is refused, only the files that those in effect name are watched.
        if (isMainInForce) watched = files;
      }
    },
    async readChanged(apply) {
      if (!inForce || !(await watched?.haveChanged())) return undefined;
      const files = createFiles(paths, { kept: inForce.mainTexts, access });
      watched = files;
      return await applyFrom(files, apply);
    },
  };
}

/** Applies a new configuration while everything runs. A refused configuration changes nothing. */
export type Reloading = ReturnType<typeof createReloading>;

interface ReloadingParts {
  readonly source: ConfigurationSource;
  /**
   * Applies a configuration in whole or not at all; resolves to a short summary of what changed.
   */
  readonly apply: (configuration: Configuration) => Promise<string>;
  readonly self: Pick<SelfMetrics, 'recordLoaded' | 'recordRefused'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** The interval at which the files are checked; cheap even for a thousand of them. */
const checkIntervalMs = 2_000;

export function createReloading(parts: ReloadingParts) {
  const { source, apply, self, log, now } = parts;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<ReloadOutcome> | undefined;
  let applying: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Runs jobs one after the other. */
  function enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  }

  /** Resolves to undefined without applying when the exporter is stopping. */
  async function putInForce(configuration: Configuration, because: string): Promise<string | undefined> {
    if (closed) return undefined;
    const applied = apply(configuration);
    applying = applied.catch(() => undefined);
    const summary = await applied;
    log.info({ summary, because }, 'configuration applied');
    return summary;
  }

  /** Reports success unless the main file on disk was refused: a changed key does not repair it. */
  function markLoaded(): void {
    if (source.isMainInForce) self.recordLoaded(now());
  }

  async function readAll(): Promise<ReloadOutcome> {
    waiting = undefined;
    const stopping = { ok: false, because: 'the exporter is stopping' } as const;
    try {
      const summary = closed ? undefined : await source.read((configuration) => putInForce(configuration, 'asked for'));
      if (summary === undefined) return stopping;
      markLoaded();
      return { ok: true, summary };
    } catch (thrown) {
      if (closed) return stopping;
      return { ok: false, because: reportRefused(thrown, parts) };
    }
  }

  async function readChanged(): Promise<void> {
    try {
      const summary = await source.readChanged((configuration) =>
        putInForce(configuration, 'a file that it names changed'),
      );
      if (summary !== undefined) markLoaded();
    } catch (thrown) {
      if (!closed) reportRefused(thrown, parts);
    }
  }

  /** Starts to apply changes of the files that the configuration names. */
  function watchFiles(): void {
    timer = setTimeout(() => {
      void enqueue(readChanged).then(() => {
        if (!closed) watchFiles();
      });
    }, checkIntervalMs).unref();
  }

  return {
    /** Reads everything again; calls that come before the reading begins share one result. */
    reload: (): Promise<ReloadOutcome> => (waiting ??= enqueue(readAll)),
    watchFiles,
    /** Resolves when what is being applied is in force. Files that are read may hang. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await applying;
    },
  };
}

/** Counts and logs a refused configuration; returns what the caller of a reload may read. */
function reportRefused(thrown: unknown, { self, log }: Pick<ReloadingParts, 'self' | 'log'>): string {
  self.recordRefused();
  const message = 'configuration refused, the one before stays in force';
  if (isForPeople(thrown)) {
    log.error({ problems: thrown.message.split('\n') }, message);
    return thrown.message;
  }
  // A bug; its message may contain anything.
  log.error({ err: toError(thrown) }, message);
  return 'internal error while applying it; the log has the details';
}

/**
 * Returns true if the message of an error is written for the person who changes the configuration.
 */
function isForPeople(thrown: unknown): thrown is Error {
  const kinds = [ConfigError, ListenError, RestartNeededError, FileKindError];
  return kinds.some((kind) => thrown instanceof kind);
}
