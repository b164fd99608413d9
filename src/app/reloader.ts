import type { Logger } from 'pino';
import { ConfigError } from '../config/problems.ts';
import { type Result, toError } from '../lib/check.ts';
import { FileKindError } from '../lib/disk.ts';
import { ListenError, RestartNeededError } from '../lib/listen.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import type { Configuration, ConfigurationSource } from './configuration-source.ts';

interface ReloaderParts {
  readonly source: ConfigurationSource;
  /**
   * Applies a configuration; rejects before it has changed anything. Resolves to a short summary of
   * what changed.
   */
  readonly apply: (configuration: Configuration) => Promise<string>;
  readonly self: Pick<SelfMetrics, 'recordLoaded' | 'recordRefused'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** The interval at which the files are checked; cheap even for a thousand of them. */
const checkIntervalMs = 2_000;
const stopping = { error: 'the exporter is stopping' } as const;

/** Loads and applies a new configuration while everything runs, one after the other. */
export class Reloader {
  readonly #parts: ReloaderParts;
  #last: Promise<unknown> = Promise.resolve();
  /** The reload that was requested and has not begun to read. */
  #requested: Promise<Result<string>> | undefined;
  #applying: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: ReloaderParts) {
    this.#parts = parts;
  }

  /**
   * Reads everything again; resolves to a summary of what changed, or to why nothing did. Both are
   * for people and contain no secret. Calls that come before the reading begins share one result.
   */
  reload(): Promise<Result<string>> {
    return (this.#requested ??= this.#enqueue(() => {
      this.#requested = undefined;
      return this.#loadAndApply(() => this.#parts.source.load(), 'asked for');
    }));
  }

  /** Starts to apply changes of the files that the configuration names. */
  watchFiles(): void {
    this.#timer = setTimeout(() => {
      const loadChanged = () => this.#parts.source.loadChanged();
      void this.#enqueue(() => this.#loadAndApply(loadChanged, 'a file that it names changed')).then(() => {
        if (!this.#isClosed) this.watchFiles();
      });
    }, checkIntervalMs).unref();
  }

  /** Resolves when what is being applied is active. Files that are read may hang. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#applying;
  }

  #enqueue(work: () => Promise<Result<string>>): Promise<Result<string>> {
    const run = this.#last.then(work);
    this.#last = run;
    return run;
  }

  async #loadAndApply(load: () => Promise<Configuration | undefined>, because: string): Promise<Result<string>> {
    const { source, apply, self, log, now } = this.#parts;
    try {
      const configuration = await load();
      if (this.#isClosed) return stopping;
      if (!configuration) return { value: 'no file differs' };
      const applied = apply(configuration);
      this.#applying = applied.catch(() => undefined);
      const summary = await applied;
      source.markActive();
      log.info({ summary, because }, 'configuration applied');
      // A changed API key does not repair a main file on disk that was refused.
      if (source.isMainActive) self.recordLoaded(now());
      return { value: summary };
    } catch (thrown) {
      return this.#isClosed ? stopping : { error: this.#reportRefused(thrown) };
    }
  }

  /** Counts and logs a refused configuration; returns what the caller of a reload may read. */
  #reportRefused(thrown: unknown): string {
    const { self, log } = this.#parts;
    self.recordRefused();
    const message = 'configuration refused, the one before stays in force';
    const error = toError(thrown);
    // Their messages are written for the person who changes the configuration.
    if ([ConfigError, ListenError, RestartNeededError, FileKindError].some((kind) => error instanceof kind)) {
      log.error({ problems: error.message.split('\n') }, message);
      return error.message;
    }
    // A bug; its message may contain anything.
    log.error({ err: error }, message);
    return 'internal error while applying it; the log has the details';
  }
}
