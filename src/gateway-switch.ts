import type { Settings } from './config/settings.ts';
import { ListenError } from './http/listen.ts';
import { RestartNeededError } from './reloading.ts';
import type { GatewayParts, GatewaySettings, StartedGateway } from './start-gateway.ts';

/** The admin gateway as the configuration has it at the moment: off, on, or on another address. */
export interface GatewaySwitch {
  /** Undefined while it is off. */
  readonly url: string | undefined;
  /**
   * Rejects with a RestartNeededError when a freeze would be lost, and when the new address cannot be listened on; the gateway is then as it was, or off where
   * the message says so.
   */
  become(settings: Settings): Promise<void>;
  close(): Promise<void>;
}

export function createGatewaySwitch(createParts: () => GatewayParts): GatewaySwitch {
  let running: { readonly gateway: StartedGateway; readonly settings: GatewaySettings } | undefined;

  async function start(settings: GatewaySettings): Promise<void> {
    // Loaded only where it is wanted: it brings megabytes of its own.
    const { startGateway } = await import('./start-gateway.ts');
    running = { gateway: await startGateway(settings, createParts()), settings };
  }

  async function stop(): Promise<void> {
    const stopping = running?.gateway;
    running = undefined;
    await stopping?.close();
  }

  function refuseToThaw({ admin }: GatewaySettings): void {
    if (!running?.gateway.isFrozen || running.settings.admin.auditFile === admin.auditFile) return;
    throw new RestartNeededError(
      'admin.audit_file cannot change while all changes are frozen, since the freeze is kept beside it; thaw first, or change it back',
    );
  }

  return {
    get url() {
      return running?.gateway.url;
    },
    async become(settings) {
      if (!hasAdmin(settings)) return await stop();
      if (running?.gateway.update(settings)) {
        running = { ...running, settings };
        return;
      }
      refuseToThaw(settings);
      const before = running?.settings;
      // Two gateways cannot write one audit, nor listen on one address.
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

/** What to say of a gateway that could neither change nor go back. */
function offAfter(error: unknown, failure: unknown): unknown {
  if (!(error instanceof ListenError && failure instanceof ListenError)) return failure;
  const message = `${error.message}\nThe admin gateway is off until a reload brings it back: ${failure.message}`;
  return new ListenError(message, failure.setting, { cause: failure });
}
