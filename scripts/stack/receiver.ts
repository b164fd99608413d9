import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

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
