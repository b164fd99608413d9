import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { oneLine } from '../../src/lib/text.ts';
import { ruleFor } from '../../src/admin/changes/repairs.ts';

export interface NotifiedAlert {
  readonly status: 'firing' | 'resolved';
  /** Tells alerts apart: the same for the same labels. */
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The used part of a message from Alertmanager to a webhook. */
export interface Delivery {
  readonly status: 'firing' | 'resolved';
  readonly receiver: string;
  /** Identifies the group: a pager keeps one incident for it. */
  readonly groupKey: string;
  readonly alerts: readonly NotifiedAlert[];
}

export interface Receiver {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on loopback for the notifications of Alertmanager. */
export async function startReceiver(take: (delivery: Delivery) => void): Promise<Receiver> {
  const server = createServer((request, response) => {
    void text(request)
      .then((body) => {
        take(JSON.parse(body) as Delivery);
        response.end();
      })
      // Not a notification, or broken off: Alertmanager counts it as failed and tries again.
      .catch(() => response.writeHead(400).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The labels that say where an alert is, from the large to the small. */
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
  if (status === 'resolved' || ruleFor(labels) === undefined) return '';
  const { alertname = '', appliance = '', farm = '', file = '' } = labels;
  return ` Repair: ${console}#${new URLSearchParams({ alert: alertname, appliance, object: farm + file }).toString()}`;
}
