import type { Settings } from '../../config/settings.ts';
import { ListenError, RestartNeededError } from '../../lib/listen.ts';
import type { GatewaySettings, GatewaySurroundings } from './gateway-services.ts';
import type { StartedGateway } from './start-gateway.ts';

export type GatewayLifecycle = ReturnType<typeof createGatewayLifecycle>;

/** Starts, changes and stops the admin gateway as the configuration says. */
export function createGatewayLifecycle(
  waits: GatewaySurroundings['waits'],
  createParts: () => Omit<GatewaySurroundings, 'waits'>,
) {
  let running: { readonly gateway: StartedGateway; readonly settings: GatewaySettings } | undefined;

  async function start(settings: GatewaySettings): Promise<void> {
    // Loaded only when needed: it takes megabytes of memory.
    const { startGateway } = await import('./start-gateway.ts');
    running = { gateway: await startGateway(settings, { ...createParts(), waits }), settings };
  }

  async function stop(): Promise<void> {
    const stopping = running?.gateway;
    running = undefined;
    await stopping?.close();
  }

  function refuseToThaw({ admin }: GatewaySettings): void {
    if (!running?.gateway.isFrozen || running.settings.admin.journalFile === admin.journalFile) return;
    throw new RestartNeededError(
      'admin.journal_file cannot change while all changes are frozen, since it keeps the freeze; thaw first, or change it back',
    );
  }

  return {
    /** Base URL; undefined while the gateway is off. */
    get url() {
      return running?.gateway.url;
    },
    /**
     * Applies other settings. Rejects with a RestartNeededError if a freeze would be lost, and with
     * a ListenError if the new address cannot be listened on; the gateway is then unchanged, or off
     * if the message says so.
     */
    async reconfigure(settings: Settings): Promise<void> {
      if (!hasAdmin(settings)) return await stop();
      if (running?.gateway.update(settings)) {
        running = { ...running, settings };
        return;
      }
      refuseToThaw(settings);
      const before = running?.settings;
      // Stopped first: two gateways cannot write one journal or listen on one address.
      await stop();
      try {
        await start(settings);
      } catch (error) {
        if (before) await start(before).catch((failure: unknown) => Promise.reject(offAfter(error, failure)));
        throw error;
      }
    },
    close: stop,
  };
}

function hasAdmin(settings: Settings): settings is GatewaySettings {
  return settings.admin !== undefined;
}

/** Returns the error for a gateway that could neither change nor return to its old settings. */
function offAfter(error: unknown, failure: unknown): unknown {
  if (!(error instanceof ListenError && failure instanceof ListenError)) return failure;
  const message = `${error.message}\nThe admin gateway is off until a reload brings it back: ${failure.message}`;
  return new ListenError(message, failure.setting, { cause: failure });
}
