import { connect as connectPlain, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { largeWorld } from '../../simulator/scenes/sizes.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { createTlsMaterials } from '../../simulator/tls.ts';
import { answerCalls } from '../worker.ts';
import { brokenReplies, type HostileReply, hostileReplies } from './hostile-replies.ts';

/** The calls of the process with the good appliances, or of that with the hostile peers. */
export type PeerCalls = typeof calls;

/** Hostile clients of one kind. */
export interface HostileClients {
  readonly port: number;
  readonly connections: number;
  readonly from?: string;
  /** Sent once at the beginning of a connection. */
  readonly head?: string;
  /** Sent as fast as it is read, or after each answer; a connection without it is silent. */
  readonly body?: string;
  readonly pace: 'flood' | 'answers' | 'silent';
  /** Reads what comes; otherwise nothing is read. */
  readonly reads: boolean;
}

const apiKey = 'CanaryOfTheAttack0123';

/** A TLS server that answers each request with the reply in force. */
function startHostileAppliance(name: string): Promise<{ url: string; fingerprintSha256: string }> {
  const { usual } = createTlsMaterials();
  let answered = 0;
  const reply = (): HostileReply | undefined =>
    name in hostileReplies
      ? hostileReplies[name as keyof typeof hostileReplies]
      : brokenReplies[(answered += 1) % brokenReplies.length];
  const server = createServer({ key: usual.key, cert: usual.cert }, (socket) => {
    socket.on('error', () => undefined);
    let pending = '';
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString('latin1');
      if (!pending.includes('\r\n\r\n')) return;
      const [, path = '/'] = pending.split(' ');
      pending = '';
      reply()?.(socket, path);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      resolve({ url: `https://127.0.0.1:${port}`, fingerprintSha256: usual.fingerprintSha256 });
    });
  });
}

function openHostile(clients: HostileClients): void {
  const { port, from, head = '', body, pace, reads } = clients;
  const socket: Socket = connectPlain({ port, host: '127.0.0.1', ...(from !== undefined && { localAddress: from }) });
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const write = (): void => {
    if (bytes) while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('connect', () => {
    socket.write(head);
    if (pace === 'flood') write();
    else if (bytes) socket.write(bytes);
  });
  if (pace === 'flood') socket.on('drain', write);
  if (reads) socket.on('data', () => pace === 'answers' && bytes && socket.write(bytes));
  else socket.pause();
  socket.on('error', () => undefined);
  // One that was refused comes again, 20 times a second.
  socket.once('close', () => setTimeout(openHostile, 50, clients));
}

const calls = {
  async startGood({ count }: { readonly count: number }) {
    const tls = createTlsMaterials();
    const urls: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const world = largeWorld({ farms: 5, backendsPerFarm: 3 });
      urls.push((await startSimulatedAppliance({ world, apiKey, tls, latency: 'realistic' })).url);
    }
    return { key: apiKey, appliances: urls.map((url) => ({ url, fingerprintSha256: tls.usual.fingerprintSha256 })) };
  },
  startHostile: ({ reply }: { readonly reply: string }) => startHostileAppliance(reply),
  attack(clients: HostileClients): void {
    for (let index = 0; index < clients.connections; index += 1) openHostile(clients);
  },
};

answerCalls(calls);
