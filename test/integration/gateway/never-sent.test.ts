import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { untilIs } from '../../support/until.ts';
import { targetOf } from './given-target.ts';

const pinned = { fingerprintSha256: '00'.repeat(32) };
const under = (origin: string): string => `${origin}/api/v4.0/api.cgi`;

/** A port that accepts connections and does this with them. */
async function givenPort(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const failures: readonly [what: string, start: () => Promise<{ url: string; fingerprintSha256: string }>, RegExp][] = [
  [
    'a TLS handshake that hangs, as of a stopped web server',
    async () => ({ url: under(await givenPort(() => undefined)), ...pinned }),
    /^lb-1: no connection within 5 s; nothing was sent\.$/,
  ],
  [
    'a connection that is closed during the handshake',
    async () => ({ url: under(await givenPort((socket) => socket.once('data', () => socket.destroy()))), ...pinned }),
    /; nothing was sent\.$/,
  ],
  [
    'a refused connection',
    async () => ({ url: under(`https://127.0.0.1:${await freePort()}`), ...pinned }),
    /ECONNREFUSED.*; nothing was sent\.$/,
  ],
  [
    'a name without an address',
    () => Promise.resolve({ url: under('https://nowhere.invalid'), ...pinned }),
    /its name nowhere\.invalid does not resolve: .*; nothing was sent\.$/,
  ],
  [
    'another certificate',
    async () => ({ ...targetOf(await startHttpsServer(() => undefined)), ...pinned }),
    /fingerprint.*; nothing was sent\.$/,
  ],
];

const backup = ['POST', '/appliances/lb-1/system/backup', { json: { name: 'b1' } }] as const;

it.each(failures)(
  'a change that fails by %s is reported as not sent, in the response and the audit',
  async (_, start, says) => {
    const { call, audit } = await givenGateway({}, { target: await start(), admin: { timeoutMs: 60_000 } });

    const { json } = await call(...backup);

    expect(json?.['code']).toMatch(/^upstream_(unreachable|timeout)$/);
    expect(json?.['detail']).toMatch(says);
    expect(json?.['remedy']).not.toMatch(/may have|timeout/);
    const outcome = (await audit())[1];
    expect(outcome).toMatchObject({ event: 'outcome', code: json?.['code'] });
    expect(outcome).not.toHaveProperty('uncertain');
    expect(outcome).not.toHaveProperty('sent_bytes');
  },
);

it.each([
  ['a connection that is cut', 502, 'upstream_unreachable', 60_000, /./],
  ['no answer', 504, 'upstream_timeout', 4_000, /^lb-1: no answer within 4 s\.$/],
])('a change that was sent and then met %s has an uncertain outcome', async (what, status, code, timeoutMs, says) => {
  const server = await startHttpsServer((response) => {
    if (what !== 'no answer') response.destroy();
  });
  const { call, audit } = await givenGateway({}, { target: targetOf(server), admin: { timeoutMs } });

  const { json, ...answer } = await call(...backup);

  expect(answer.status).toBe(status);
  expect(json).toMatchObject({
    code,
    detail: expect.stringMatching(says),
    remedy: expect.stringContaining('may have'),
  });
  await untilIs(async () => (await audit()).length, 2);
  expect((await audit())[1]).toMatchObject({ event: 'outcome', uncertain: true, sent_bytes: 13 });
});
