import type { Logger } from 'pino';
import { ConfigError } from './config/problems.ts';
import type { ConfigurationSource } from './configuration-source.ts';
import { ListenError } from './http/listen.ts';
import type { ReloadOutcome } from './http/reload.ts';
import { toError } from './lib/check.ts';
import { FileKindError } from './lib/regular-file.ts';
import type { SelfMetrics } from './metrics/self.ts';

/** Takes in a configuration while everything runs. One that is refused changes nothing. */
export interface Reloading {
  /** Reads everything anew; all who ask before that begins are answered together. */
  reload(): Promise<ReloadOutcome>;
  /** Takes in changes of the files that the configuration names, from now on. */
  follow(): void;
  /** Resolves once what is under way is over. */
  close(): Promise<void>;
}

export interface ReloadingParts<Configuration> {
  readonly source: ConfigurationSource<Configuration>;
  /** Puts a configuration in force, in whole or not at all; resolves to what changed, in a few words. */
  readonly apply: (configuration: Configuration) => Promise<string>;
  readonly self: Pick<SelfMetrics, 'configurationLoaded' | 'configurationRefused'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** What a running exporter cannot become; the message names what to change back. */
export class RestartNeededError extends Error {
  override readonly name = 'RestartNeededError';
}

/** Soon enough for a key or a certificate, and next to nothing for a thousand files. */
const lookEveryMs = 2_000;

export function createReloading<Configuration>(parts: ReloadingParts<Configuration>): Reloading {
  const { source, apply, self, log, now } = parts;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<ReloadOutcome> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** One after the other. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  /** Undefined when nobody needs it any more: an exporter that stops has little time for that. */
  async function putInForce(configuration: Configuration, because: string): Promise<string | undefined> {
    if (closed) return undefined;
    const summary = await apply(configuration);
    log.info({ summary, because }, 'configuration taken in');
    return summary;
  }

  /** That a key beside it was taken in does not put a main file in force that was refused. */
  function tellInForce(): void {
    if (source.isMainInForce) self.configurationLoaded(now());
  }

  function refuse(thrown: unknown): string {
    self.configurationRefused();
    const said = 'configuration refused, the one before stays in force';
    if (isForPeople(thrown)) {
      log.error({ problems: thrown.message.split('\n') }, said);
      return thrown.message;
    }
    // A mistake of ours; its message may hold anything.
    log.error({ err: toError(thrown) }, said);
    return 'the exporter failed to take it in; its log says more';
  }

  async function readAnew(): Promise<ReloadOutcome> {
    waiting = undefined;
    try {
      const summary = closed ? undefined : await source.read((configuration) => putInForce(configuration, 'asked for'));
      if (summary === undefined) return { ok: false, because: 'the exporter is stopping' };
      tellInForce();
      return { ok: true, summary };
    } catch (thrown) {
      return { ok: false, because: refuse(thrown) };
    }
  }

  async function readChanged(): Promise<void> {
    try {
      const summary = await source.readChanged((configuration) =>
        putInForce(configuration, 'a file that it names changed'),
      );
      if (summary !== undefined) tellInForce();
    } catch (thrown) {
      refuse(thrown);
    }
  }

  function follow(): void {
    timer = setTimeout(() => {
      void inTurn(readChanged).then(() => {
        if (!closed) follow();
      });
    }, lookEveryMs).unref();
  }

  return {
    reload: () => (waiting ??= inTurn(readAnew)),
    follow,
    async close() {
      closed = true;
      clearTimeout(timer);
      await last;
    },
  };
}

/** Whether the message of an error is written for the person who changes the configuration. */
function isForPeople(thrown: unknown): thrown is Error {
  const kinds = [ConfigError, ListenError, RestartNeededError, FileKindError];
  return kinds.some((kind) => thrown instanceof kind);
}
