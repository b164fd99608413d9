import { interfacesCollector, type Interfaces } from '../collectors/interfaces.ts';
import type { NewReading } from '../state/reading.ts';

/** The bytes of each interface at the last reading. */
interface LastTraffic {
  readonly address: string;
  readonly bytes: ReadonlyMap<string, number>;
}

/** Detects the restart of a machine by the traffic counters of its interfaces. */
export class RestartDetector {
  #last: LastTraffic | undefined;

  /**
   * Returns true if the counters of all interfaces with traffic are lower than at the last reading.
   * With another address, the appliance may be another machine.
   */
  detect({ collector, data }: NewReading, address: string): boolean {
    if (collector.name !== interfacesCollector.name) return false;
    const { traffic } = data as Interfaces;
    const bytes = new Map(
      traffic.map(({ name, receivedBytes, sentBytes }) => [name, (receivedBytes ?? 0) + (sentBytes ?? 0)]),
    );
    const last = this.#last;
    this.#last = { address, bytes };
    if (last?.address !== address) return false;
    const counters = [...bytes]
      .map(([name, now]) => ({ was: last.bytes.get(name) ?? 0, now }))
      .filter(({ was }) => was > 0);
    return counters.length > 0 && counters.every(({ was, now }) => now < was);
  }
}
