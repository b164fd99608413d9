import { interfaces, type Interfaces } from '../collectors/interfaces.ts';
import type { FoundReading } from '../state/appliance-state.ts';

/** Knows by the traffic of its interfaces that a machine restarted. */
export class Restarts {
  /** By machine and interface, the bytes when they were read last. */
  readonly #bytes = new Map<string, ReadonlyMap<string, number>>();

  /** Returns true if all interfaces that had traffic count it from 0 since the reading before. */
  isSeenIn({ collector, data }: FoundReading, machine: string): boolean {
    if (collector.name !== interfaces.name) return false;
    const { traffic } = data as Interfaces;
    const before = this.#bytes.get(machine);
    const bytes = new Map(
      traffic.map(({ name, receivedBytes, sentBytes }) => [name, (receivedBytes ?? 0) + (sentBytes ?? 0)]),
    );
    this.#bytes.set(machine, bytes);
    const known = [...bytes].map(([name, now]) => ({ was: before?.get(name) ?? 0, now })).filter(({ was }) => was > 0);
    return known.length > 0 && known.every(({ was, now }) => now < was);
  }
}
