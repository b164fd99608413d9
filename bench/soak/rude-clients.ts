import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { sleep } from '../../src/lib/time.ts';
import type { Random } from '../random.ts';
import { canary, canaryPem } from './canaries.ts';
import { formerToken } from './configuration.ts';

/** The addresses and secrets of clients. */
export interface Target {
  readonly metricsUrl: string;
  readonly adminUrl: string;
  /** Header lines of a scraper that may scrape. */
  readonly scrapeHeaders: string;
  readonly token: string;
  /** Appliances that may be asked and changed through the gateway. */
  readonly appliances: readonly string[];
  /** How many come together. */
  readonly herd: number;
}

/** One way to be a bad client; resolves to all that came back. */
export type Rudeness = (target: Target, random: Random, signal: AbortSignal) => Promise<string>;

const patienceMs = 4_000;

/** A request without a body; `headers` are whole lines. */
function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n${headers}\r\n`;
}

const either = ({ metricsUrl, adminUrl }: Target, random: Random): string => random.pick([metricsUrl, adminUrl]);

export const rudenesses = {
  async halfRequest(target, random, signal) {
    const sent = get('/metrics', target.scrapeHeaders);
    const half = sent.slice(0, random.below(sent.length));
    return exchangeFor({ url: either(target, random), sent: half, forMs: random.between(100, patienceMs), signal });
  },
  async slowReader(target, random, signal) {
    const { socket } = await openRaw(target.metricsUrl, signal);
    socket.pause();
    socket.write(`GET /metrics HTTP/1.1\r\nHost: here\r\n${target.scrapeHeaders}\r\n`.repeat(20));
    await sleep(random.between(500, patienceMs), signal).catch(() => undefined);
    const some = String(socket.read(50_000) ?? '');
    socket.destroy();
    return some;
  },
  async resetMidBody({ metricsUrl, scrapeHeaders }, _random, signal) {
    const { socket, reset } = await openRaw(metricsUrl, signal);
    socket.write(get('/metrics', scrapeHeaders));
    const first = await comes(socket, 'data');
    reset();
    return first instanceof Buffer ? first.toString('latin1') : '';
  },
  async wrongMethod(target, random, signal) {
    const method = random.pick(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'BREW', 'PROPFIND']);
    const path = random.pick(['/metrics', '/probe', '/sd', '/', '/-/healthy', '/whoami', '/audit', '/nothing']);
    const sent = `${method} ${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n${target.scrapeHeaders}Content-Length: 0\r\n\r\n`;
    return exchangeFor({ url: either(target, random), sent, forMs: patienceMs, signal });
  },
  async garbage(target, random, signal) {
    const sent = Buffer.from(Array.from({ length: 2_000 }, () => random.below(256)));
    return exchangeFor({ url: either(target, random), sent, forMs: patienceMs, signal });
  },
  async hugeHeaders(target, random, signal) {
    const sent = get('/metrics', `X-Long: ${'a'.repeat(random.pick([8_000, 16_000, 100_000]))}\r\n`);
    return exchangeFor({ url: either(target, random), sent, forMs: patienceMs, signal });
  },
  async heldOpen(target, random, signal) {
    const sent = `GET /-/healthy HTTP/1.1\r\nHost: here\r\n${target.scrapeHeaders}\r\n`;
    return exchangeFor({ url: either(target, random), sent, forMs: random.between(1_000, 2 * patienceMs), signal });
  },
  async badPaths(target, random, signal) {
    const path = random.pick([
      '/%zz',
      '/probe?target=%00',
      `/${'a/'.repeat(2_000)}`,
      '//',
      '/metrics?appliance=nobody',
    ]);
    return exchangeFor({
      url: either(target, random),
      sent: get(path, target.scrapeHeaders),
      forMs: patienceMs,
      signal,
    });
  },
  async herd(target, random, signal) {
    const { metricsUrl, scrapeHeaders, appliances, herd } = target;
    const sent = get(`/probe?target=${random.pick(appliances)}`, scrapeHeaders);
    const answers = Array.from({ length: herd }, () =>
      exchangeFor({ url: metricsUrl, sent, forMs: 4 * patienceMs, signal }),
    );
    const texts = await Promise.all(answers);
    return texts.find((text) => text.startsWith('HTTP/1.1 200')) ?? texts.join('');
  },
  async bigBody(target, random, signal) {
    const url = either(target, random);
    const path = url === target.adminUrl ? `/appliances/${random.pick(target.appliances)}/farms` : '/metrics';
    const head = `POST ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${target.token}\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{"farmname":"`;
    return exchangeFor({ url, sent: head + 'x'.repeat(random.below(2_000_000)), forMs: patienceMs / 2, signal });
  },
  async badToken({ adminUrl }, random, signal) {
    const wrong = random.pick([canary(`wrong-token-${random.below(1_000)}`), formerToken]);
    const headers = random.pick([
      `Authorization: Bearer ${wrong}\r\n`,
      `ZAPI_KEY: ${wrong}\r\n`,
      `Authorization: Basic ${Buffer.from(`soak:${wrong}`).toString('base64')}\r\n`,
      `Cookie: CGISESSID=${wrong}\r\n`,
      `X-Reason: ${wrong}\r\n`,
    ]);
    const path = random.pick(['/whoami', '/appliances', '/audit', `/?token=${encodeURIComponent(wrong)}`]);
    return exchangeFor({ url: adminUrl, sent: get(path, headers), forMs: patienceMs, signal });
  },
  async secretInWrongPlace(target, random, signal) {
    const { token, appliances } = target;
    const secret = random.pick([token, canary('wrong-place'), Buffer.from(token).toString('base64')]);
    const encoded = encodeURIComponent(secret);
    const path = random.pick([
      `/${encoded}`,
      `/metrics?token=${encoded}`,
      `/metrics?appliance=${encoded}`,
      `/probe?target=${encoded}`,
      `/appliances/${encoded}/farms`,
      `/appliances/${random.pick(appliances)}/farms?key=${encoded}`,
    ]);
    const headers = random.pick([`Host: ${secret}\r\n`, `Authorization: ${secret}\r\n`, `Accept: ${secret}\r\n`, '']);
    return exchangeFor({ url: either(target, random), sent: get(path, headers), forMs: patienceMs, signal });
  },
  async gatewayRead({ adminUrl, token, appliances }, random, signal) {
    const one = `/appliances/${random.pick(appliances)}`;
    const path = random.pick([
      '/whoami',
      '/appliances',
      '/audit?limit=50',
      '/freeze',
      '/docs',
      '/docs/openapi.json',
      `${one}/farms`,
      `${one}/stats`,
      `${one}/system/users`,
      `${one}/certificates`,
    ]);
    return exchangeFor({
      url: adminUrl,
      sent: get(path, `Authorization: Bearer ${token}\r\n`),
      forMs: 2 * patienceMs,
      signal,
    });
  },
  async gatewayWrite({ adminUrl, token, appliances }, random, signal) {
    const pem = canaryPem('sent-key');
    const [path, type, body] = random.pick([
      ['/system/users', 'application/json', JSON.stringify({ password: canary('old'), newpassword: canary('new') })],
      ['/certificates/soak.pem', 'application/x-pem-file', pem],
      ['/system/users', 'application/json', `{"password":"${canary('broken')}`],
      [
        '/farms',
        'application/json',
        JSON.stringify({ farmname: 'x', nested: { secret_key: canary('deep'), note: pem } }),
      ],
      ['/system/backup', 'application/json', JSON.stringify({ name: `soak-${random.below(5)}` })],
    ] as const);
    const head = `POST /appliances/${random.pick(appliances)}${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n`;
    const headers = `Authorization: Bearer ${token}\r\nX-Force: true\r\nX-Reason: soak\r\nContent-Type: ${type}\r\n`;
    const sent = `${head}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return exchangeFor({ url: adminUrl, sent, forMs: 2 * patienceMs, signal });
  },
  async pages({ metricsUrl, scrapeHeaders }, random, signal) {
    const path = random.pick(['/', '/sd', '/api/status', '/-/healthy', '/-/ready', '/favicon.ico']);
    return exchangeFor({ url: metricsUrl, sent: get(path, scrapeHeaders), forMs: patienceMs, signal });
  },
} satisfies Record<string, Rudeness>;

/** An address of this machine that is not the scraper's: bad clients are somebody else. */
const localAddress = '127.0.0.2';

/** A connection on which anything can be written. */
interface RawConnection {
  readonly socket: Socket;
  /** Ends it as if the machine had crashed, whatever is said on it. */
  reset(): void;
}

async function openRaw(url: string, signal: AbortSignal): Promise<RawConnection> {
  const { protocol, hostname, port } = new URL(url);
  const place = { host: hostname, port: Number(port), localAddress };
  const secure = protocol === 'https:';
  const carrier = connect(place);
  const socket = secure ? connectTls({ socket: carrier, rejectUnauthorized: false }) : carrier;
  // A refused or reset connection is what the other side may do to such a client.
  for (const each of [carrier, socket]) each.on('error', () => undefined);
  const leave = (): void => void socket.destroy();
  signal.addEventListener('abort', leave);
  socket.once('close', () => signal.removeEventListener('abort', leave));
  if (signal.aborted) leave();
  await comes(socket, secure ? 'secureConnect' : 'connect');
  return { socket, reset: () => void carrier.resetAndDestroy() };
}

/** Resolves to what an event brings, or to nothing once the connection is over. */
async function comes(socket: Socket, event: string): Promise<unknown> {
  if (socket.destroyed) return undefined;
  const over = new AbortController();
  const [first] = await Promise.race([once(socket, event, over), once(socket, 'close', over)]).catch(() => []);
  over.abort();
  return first;
}

interface RawExchangeParts {
  readonly url: string;
  readonly sent: string | Buffer;
  /** Waits no longer for the other side to end the connection. */
  readonly forMs: number;
  readonly signal: AbortSignal;
}

/** Writes, reads until the other side ends it or the time is over, and resolves to what came. */
async function exchangeFor({ url, sent, forMs, signal }: RawExchangeParts): Promise<string> {
  const { socket } = await openRaw(url, signal);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(sent, 'latin1');
  const over = new AbortController();
  await Promise.race([comes(socket, 'close'), sleep(forMs, over.signal).catch(() => undefined)]);
  over.abort();
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}
