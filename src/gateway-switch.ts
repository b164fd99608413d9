import type { Settings } from './config/settings.ts';
import type { GatewayParts, GatewaySettings, StartedGateway } from './start-gateway.ts';

/** The admin gateway as the configuration has it at the moment: off, on, or on another address. */
export interface GatewaySwitch {
  /** Undefined while it is off. */
  readonly url: string | undefined;
  /** Rejects when the new address cannot be listened on; the gateway is then as it was. */
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
      const before = running?.settings;
      // Two gateways cannot write one audit, nor listen on one address.
      await stop();
      try {
        await start(settings);
      } catch (error) {
        if (before) await start(before);
        throw error;
      }
    },
    close: stop,
  };
}

function hasAdmin(settings: Settings): settings is GatewaySettings {
  return settings.admin !== undefined;
}
