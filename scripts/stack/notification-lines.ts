import { oneLine } from '../../src/lib/text.ts';
import { repairOf } from '../../src/requests/repairs.ts';
import type { Delivery, NotifiedAlert } from './receiver.ts';

/** The labels that say where it is, from the large to the small. */
const places = ['appliance', 'farm', 'service', 'backend', 'file', 'interface', 'vpn', 'node', 'collector'];

/**
 * Makes lines of notifications: `04:12:31 FIRING   critical ZlbFarmDown lb-madrid shop: … (to
 * page)`, and a link to its repair in the console at this address. Alertmanager repeats itself,
 * and all of a group when one of it changes; only what is new becomes a line.
 */
export function createTeller(console: string): (delivery: Delivery, at: Date) => readonly string[] {
  const told = new Map<string, NotifiedAlert['status']>();
  return ({ alerts, receiver }, at) => {
    const time = at.toTimeString().slice(0, 8);
    const news = alerts.filter(({ fingerprint, status }) => told.get(fingerprint) !== status);
    for (const { fingerprint, status } of news) told.set(fingerprint, status);
    return news.map(
      (alert) => oneLine(`${time} ${describe(alert)} (to ${receiver})`, 400) + linkToRepair(alert, console),
    );
  };
}

function describe({ status, labels, annotations }: NotifiedAlert): string {
  const where = places.flatMap((place) => labels[place] ?? []);
  const words = [status.toUpperCase().padEnd(8), labels['severity'] ?? '', labels['alertname'] ?? '', ...where];
  return `${words.filter((word) => word !== '').join(' ')}: ${annotations['description'] ?? ''}`;
}

/** The link of alerts/alertmanager.example.yml. */
function linkToRepair({ status, labels }: NotifiedAlert, console: string): string {
  if (status === 'resolved' || repairOf(labels) === undefined) return '';
  const { alertname = '', appliance = '', farm = '', file = '' } = labels;
  return ` Repair: ${console}#${new URLSearchParams({ alert: alertname, appliance, object: farm + file }).toString()}`;
}
