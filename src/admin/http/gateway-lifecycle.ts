import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../config/settings.ts';
import { RestartNeededError } from '../../lib/listen.ts';
import type { Prepared } from '../../lib/prepared.ts';
import type { GatewaySettings, GatewayDependencies } from './gateway-services.ts';
import type { StartedGateway } from './start-gateway.ts';

export type GatewayLifecycle = ReturnType<typeof createGatewayLifecycle>;

/** Starts, changes and stops the admin gateway as the configuration says. */
export function createGatewayLifecycle(createParts: () => GatewayDependencies) {
  let running: { readonly gateway: StartedGateway; readonly journalFile: string } | undefined;
  /** The gateway that was switched off, while its calls and changes under way end. */
  let draining: { readonly gateway: StartedGateway; readonly ended: Promise<void> } | undefined;
  /** The journal that keeps a freeze while the gateway is off. */
  let frozenIn: string | undefined;

  async function start(settings: GatewaySettings): Promise<Prepared> {
    const { journalFile } = settings.admin;
    // An idle gateway ends within milliseconds, a call may take minutes.
    if (draining) await Promise.race([draining.ended, delay(1_000, undefined, { ref: false })]);
    if (draining)
      throw new RestartNeededError(
        'admin cannot be switched on yet: calls from before it was switched off are still under way; reload again when they have ended',
      );
    if (frozenIn !== undefined && frozenIn !== journalFile)
      throw new RestartNeededError(
        `admin.journal_file must stay ${frozenIn} while all changes are frozen, since it keeps the freeze; reload with that, and run "zlb-exporter admin unfreeze" first`,
      );
    // Loaded only when needed: it takes megabytes of memory.
    const { startGateway } = await import('./start-gateway.ts');
    const gateway = await startGateway(settings, createParts());
    return {
      commit() {
        running = { gateway, journalFile };
        frozenIn = undefined;
      },
      discard: () => gateway.close(),
    };
  }

  function switchOff(): Prepared {
    if (running?.gateway.freeze.isSaved === false)
      throw new RestartNeededError(
        'admin cannot be removed while a freeze is only in memory, because the journal cannot be written; make it writable first',
      );
    return {
      commit() {
        if (!running) return;
        const { gateway, journalFile } = running;
        running = undefined;
        const ended = gateway
          .drain()
          .then(() => gateway.close())
          .finally(() => {
            // Only now: a freeze may begin or end while requests are still under way.
            if (gateway.freeze.isFrozen) frozenIn = journalFile;
            draining = undefined;
          });
        draining = { gateway, ended };
      },
    };
  }

  return {
    /** Base URL; undefined while the gateway is off. */
    get url() {
      return running?.gateway.url;
    },
    /**
     * Prepares other settings. Rejects with a RestartNeededError if they need a restart or would
     * lift a freeze, and with a ListenError if their address cannot be listened on. A gateway that
     * is switched on already answers when it is prepared, so nothing else may be refused after it.
     */
    async prepare(settings: Settings): Promise<Prepared> {
      if (!hasAdmin(settings)) return switchOff();
      return await (running ? running.gateway.prepare(settings) : start(settings));
    },
    async close(): Promise<void> {
      await Promise.all([running?.gateway.close(), draining?.gateway.close()]);
      await draining?.ended;
    },
  };
}

function hasAdmin(settings: Settings): settings is GatewaySettings {
  return settings.admin !== undefined;
}
