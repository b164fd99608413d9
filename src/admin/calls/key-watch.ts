import type { Logger } from 'pino';
import { ApplianceError } from '../../appliance/errors.ts';
import type { AdminAppliance } from './session.ts';
import type { AdminMetrics } from './admin-metrics.ts';

type KeyedAppliance = Pick<AdminAppliance, 'name' | 'client'>;

interface KeyWatchParts {
  /** Returns the appliances whose key for changes is not the one for polling. */
  readonly appliances: () => readonly KeyedAppliance[];
  readonly metrics: Pick<AdminMetrics, 'setKeyAccepted' | 'clearKeys'>;
  readonly log: Logger;
}

/** A start has other work, and `check` has tried the keys. */
const firstMs = 5 * 60_000;
const betweenMs = 6 * 3_600_000;

/**
 * Tries the gateway's own keys from time to time: before a repair, nobody would notice that one was
 * replaced, or its user disabled.
 */
export function watchKeys(parts: KeyWatchParts) {
  const stopping = new AbortController();
  let timer = setTimeout(tryAll, firstMs);

  function tryAll(): void {
    void tryKeys(parts, stopping.signal);
    timer = setTimeout(tryAll, betweenMs);
  }

  return {
    /** Forgets what is known of the keys before a reload. */
    restart(): void {
      clearTimeout(timer);
      parts.metrics.clearKeys();
      timer = setTimeout(tryAll, firstMs);
    },
    close(): void {
      clearTimeout(timer);
      stopping.abort();
      parts.metrics.clearKeys();
    },
  };
}

/** Tries each key with one read that every user may do, one appliance after the other. */
export async function tryKeys({ appliances, metrics, log }: KeyWatchParts, signal: AbortSignal): Promise<void> {
  for (const { name, client } of appliances()) {
    const accepted = await isAccepted(client, signal);
    if (signal.aborted) return;
    metrics.setKeyAccepted(name, accepted);
    if (accepted === false)
      log.warn({ appliance: name }, "the appliance refuses the gateway's own key; no change can be made through it");
  }
}

/** Resolves to undefined if nothing is known. */
async function isAccepted(client: KeyedAppliance['client'], signal: AbortSignal): Promise<boolean | undefined> {
  try {
    await client.read('readSystemVersion', {}, signal);
    return true;
  } catch (error) {
    const reason = error instanceof ApplianceError ? error.reason : undefined;
    if (reason === 'unauthorized') return false;
    // A deactivated appliance checks the key before it says so.
    return reason === 'unlicensed' ? true : undefined;
  }
}
