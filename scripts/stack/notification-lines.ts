import { oneLine } from '../../src/lib/text.ts';
import { repairOf } from '../../src/requests/repairs.ts';
import type { Delivery, NotifiedAlert } from './receiver.ts';

/** The labels that say where it is, from the large to the small. */
const places = ['appliance', 'farm', 'service', 'backend', 'file', 'interface', 'vpn', 'node', 'collector'];

/**
 * Makes lines of notifications: `04:12:31 FIRING   critical ZlbFarmDown lb-madrid shop: … (to
 * page)`, and where its repair waits. Alertmanager repeats itself, and all of a group when one of
 * it changes; only what is new becomes a line.
 */
export function createTeller(): (delivery: Delivery, at: Date) => readonly string[] {
  const told = new Map<string, NotifiedAlert['status']>();
  return ({ alerts, receiver }, at) => {
    const time = at.toTimeString().slice(0, 8);
    const news = alerts.filter(({ fingerprint, status }) => told.get(fingerprint) !== status);
    for (const { fingerprint, status } of news) told.set(fingerprint, status);
    return news.map((alert) => oneLine(`${time} ${describe(alert)} (to ${receiver})${proposalOf(alert)}`, 400));
  };
}

function describe({ status, labels, annotations }: NotifiedAlert): string {
  const where = places.flatMap((place) => labels[place] ?? []);
  const words = [status.toUpperCase().padEnd(8), labels['severity'] ?? '', labels['alertname'] ?? '', ...where];
  return `${words.filter((word) => word !== '').join(' ')}: ${annotations['description'] ?? ''}`;
}

function proposalOf({ status, labels }: NotifiedAlert): string {
  const repair = repairOf(labels);
  if (status === 'resolved' || repair === undefined) return '';
  return ` Proposed if it can help: ${repair.recipe}; npm start --silent -- admin requests`;
}
