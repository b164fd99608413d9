import { interfaces, type Interfaces } from '../collectors/interfaces.ts';
import type { FoundReading } from '../state/appliance-state.ts';

/** The bytes of each interface when they were read last. */
interface KnownTraffic {
  readonly scope: string;
  readonly bytes: ReadonlyMap<string, number>;
}

/** Knows by the traffic of its interfaces that a machine restarted. */
export class Restarts {
  readonly #known = new Map<string, KnownTraffic>();

  /**
   * Returns true if all interfaces that had traffic count it from 0 since the reading before. With
   * another scope, the appliance may be another machine.
   */
  isSeenIn({ collector, data }: FoundReading, appliance: string, scope: string): boolean {
    if (collector.name !== interfaces.name) return false;
    const { traffic } = data as Interfaces;
    const bytes = new Map(
      traffic.map(({ name, receivedBytes, sentBytes }) => [name, (receivedBytes ?? 0) + (sentBytes ?? 0)]),
    );
    const known = this.#known.get(appliance);
    this.#known.set(appliance, { scope, bytes });
    if (known?.scope !== scope) return false;
    const seen = [...bytes]
      .map(([name, now]) => ({ was: known.bytes.get(name) ?? 0, now }))
      .filter(({ was }) => was > 0);
    return seen.length > 0 && seen.every(({ was, now }) => now < was);
  }
  /** Forgets appliances that are no longer watched. */
  keepOnly(appliances: ReadonlySet<string>): void {
    for (const appliance of this.#known.keys()) if (!appliances.has(appliance)) this.#known.delete(appliance);
  }
}
