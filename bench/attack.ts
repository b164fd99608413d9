import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeToken } from '../src/commands/token.ts';
import { sleep, steadyNow } from '../src/lib/time.ts';
import { seriesOf } from '../test/support/samples.ts';
import { until } from '../test/support/until.ts';
import { hostileReplies } from './attack/hostile-replies.ts';
import type { HostileClients, PeerCalls } from './attack/peers.ts';
import { clone, type ExporterProcess, startExporterProcess } from './exporter.ts';
import type { Program } from './installed.ts';
import { percentile, usageOf } from './measure.ts';
import { inColumns } from './results.ts';
import { startWorker } from './worker.ts';

// `npm run attack`: one hostile peer beside five good appliances, in the memory of the unit.

const memoryBytes = 1_073_741_824;
const good = 5;
/** The good appliance that hostile callers ask too. */
const shared = 'good-1';
const tokens = {
  viewer: makeToken(),
  caller: makeToken(),
  alertmanager: makeToken(),
  honest: makeToken(),
  honestAlertmanager: makeToken(),
};
const roles = {
  viewer: 'viewer',
  caller: 'operator',
  alertmanager: 'alertmanager',
  honest: 'operator',
  honestAlertmanager: 'alertmanager',
} as const;

interface Way {
  /** The reply of the hostile appliance. */
  readonly reply: string;
  readonly clients: readonly Omit<HostileClients, 'port'>[];
  readonly to?: 'admin' | 'log' | 'metrics';
}

/** The ports that the exporter was given. */
type Ports = Record<'admin' | 'log' | 'metrics', number>;

function requestOf(path: string, token?: keyof typeof tokens, headers = '', method = 'GET'): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${tokens[token].token}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${authorization}${headers}\r\n`;
}

const chunked = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
const oneByte = '1\r\n \r\n'.repeat(1_000);

/** A post of alerts as long as the gateway takes. */
function alertsOf(count: number): string {
  const alert = (index: number) => ({
    status: 'firing',
    labels: {
      alertname: 'ZlbFarmDown',
      appliance: shared,
      farm: `farm-${index}`,
      status: 'down',
      more: 'x'.repeat(200),
    },
    startsAt: '2026-11-27T00:00:00Z',
  });
  const body = JSON.stringify({ version: '4', alerts: Array.from({ length: count }, (_, index) => alert(index)) });
  const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return requestOf('/alerts', 'alertmanager', headers, 'POST') + body;
}

const repeated =
  '<134>Nov 26 04:17:34 lb pound: message repeated 10000 times: [ never, x 203.0.113.9 - - [26/Nov/2026:04:17:34 +0000] "GET / HTTP/1.1" 200 5 "" "x" (web -> 10.0.0.11:80) 0.042 sec]\n';

/** A change as long as the gateway takes, of very many values. */
function manyValues(): string {
  const body = `{${Array.from({ length: 90_000 }, (_, index) => `"k${index}":1`).join()}}`;
  return (
    requestOf('/changes', 'caller', `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`, 'POST') +
    body
  );
}

const unread = { pace: 'silent', reads: false } as const;
const flood = { pace: 'flood', reads: true } as const;
const answers = { pace: 'answers', reads: true } as const;
const sender = '127.0.0.11';
const none = { clients: [] } as const;
const broken = 'broken replies, one after the other';
const usual = 'nothing hostile';

const ways: Readonly<Record<string, Way>> = {
  ...Object.fromEntries([...Object.keys(hostileReplies), broken].map((reply) => [reply, { reply, ...none }])),
  'unfinished uploads of a viewer, 32': {
    reply: usual,
    to: 'admin',
    clients: ['viewer', 'caller'].map((token) => ({
      connections: 32,
      head: requestOf('/changes', token as 'viewer', chunked, 'POST'),
      body: oneByte,
      ...flood,
    })),
  },
  'loops of two tokens, 24': {
    reply: usual,
    to: 'admin',
    clients: ['viewer', 'caller'].map((token) => ({
      connections: 12,
      body: requestOf(`/appliances/${shared}/stats`, token as 'viewer'),
      ...answers,
    })),
  },
  'posts of 2,500 alerts, 8': {
    reply: usual,
    to: 'admin',
    clients: [{ connections: 8, body: alertsOf(2_500), ...answers }],
  },
  'calls that one-byte chunks answer, 4': {
    reply: 'a body of one-byte chunks',
    to: 'admin',
    clients: [{ connections: 4, body: requestOf('/appliances/hostile/farms', 'viewer'), ...answers }],
  },
  'long bodies of an operator, 8': {
    reply: usual,
    to: 'admin',
    clients: [{ connections: 8, body: manyValues(), ...answers }],
  },
  'posts of one alert, 64': {
    reply: usual,
    to: 'admin',
    clients: [{ connections: 64, body: alertsOf(1), ...answers }],
  },
  'readers that do not read /api/status, 120': {
    reply: 'long names in every list',
    to: 'metrics',
    clients: [{ connections: 120, head: requestOf('/api/status'), ...unread }],
  },
  'readers that do not read /, 120': {
    reply: 'long names in every list',
    to: 'metrics',
    clients: [{ connections: 120, head: requestOf('/'), ...unread }],
  },
  'readers of /, 16': {
    reply: 'long names in every list',
    to: 'metrics',
    clients: [{ connections: 16, body: requestOf('/?q=n'), ...answers }],
  },
  'readers of /api/history, 12': {
    reply: 'states that flap',
    to: 'metrics',
    clients: [{ connections: 12, body: requestOf('/api/history?limit=1000'), ...answers }],
  },
  'readers of /api/status, 4': {
    reply: 'each certificate in each farm',
    to: 'metrics',
    clients: [{ connections: 4, body: requestOf('/api/status'), ...answers }],
  },
  'connections of a sender, 300': {
    reply: usual,
    to: 'log',
    clients: [{ connections: 300, from: sender, head: '<', ...unread }],
  },
  'malformed lines, 8': {
    reply: usual,
    to: 'log',
    clients: [{ connections: 8, from: sender, body: 'a\n'.repeat(30_000), ...flood }],
  },
  'lines that stand for 10,000 requests of any farm, 8': {
    reply: usual,
    to: 'log',
    clients: [{ connections: 8, from: sender, body: repeated.repeat(200), ...flood }],
  },
  'empty lines, 8': {
    reply: usual,
    to: 'log',
    clients: [{ connections: 8, from: sender, body: '\n'.repeat(60_000), ...flood }],
  },
};

/** The program, which notes when its event loop is held. */
const [node, main] = clone;
const watched: Program = [
  node,
  `--import=${new URL('../test/support/loop-time.ts', import.meta.url).pathname}`,
  main ?? '',
];

/** Returns a program that runs another one in so much memory. */
function limited(program: Program, loopTimes: string): { readonly program: Program; readonly remove: () => void } {
  const folder = `/sys/fs/cgroup/memory/zlb-attack-${process.pid}-${Date.now()}`;
  mkdirSync(folder);
  writeFileSync(join(folder, 'memory.limit_in_bytes'), String(memoryBytes));
  return {
    program: [
      'sh',
      '-c',
      'echo $$ > "$0/cgroup.procs"; export LOOP_TIME_FILE="$1"; shift; exec "$@"',
      folder,
      loopTimes,
      ...program,
    ],
    remove: () => rmdirSync(folder),
  };
}

function configurationOf(
  appliances: readonly { readonly url: string; readonly fingerprintSha256: string }[],
  key: string,
  folder: string,
): object {
  return {
    appliances: appliances.map(({ url, fingerprintSha256 }, index) => ({
      name: index < good ? `good-${index + 1}` : 'hostile',
      url,
      api_key: key,
      tls: { fingerprint_sha256: fingerprintSha256 },
      requests: { from: [index < good ? `127.0.0.${20 + index}` : sender] },
    })),
    requests: { listen_tcp: '127.0.0.1:0' },
    admin: {
      listen_address: '127.0.0.1:0',
      journal_file: join(folder, 'journal.db'),
      tokens: Object.entries(roles).map(([name, role]) => ({
        name,
        role,
        sha256: tokens[name as keyof typeof tokens].sha256,
      })),
    },
  };
}

/** Times of one thing that an honest peer does; a failure has none. */
class Times {
  readonly ms: number[] = [];
  failures = 0;

  async time(work: () => Promise<boolean>): Promise<void> {
    const startedAtMs = steadyNow();
    if (await work().catch(() => false)) this.ms.push(steadyNow() - startedAtMs);
    else this.failures += 1;
  }

  /** Median, 95th percentile and longest in milliseconds, and failures. */
  get text(): string {
    const [half, most] = [percentile(this.ms, 0.5), percentile(this.ms, 0.95)].map(Math.round);
    const failed = this.failures === 0 ? '' : `, ${this.failures} of ${this.failures + this.ms.length} failed`;
    return `${half}/${most}/${Math.round(Math.max(...this.ms))}${failed}`;
  }
}

async function honestPost(url: string, init: RequestInit): Promise<boolean> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) });
  await answer.arrayBuffer();
  return answer.ok;
}

function authorized(token: keyof typeof tokens, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${tokens[token].token}`, ...more };
}

/** Returns the processor time of a process, in units of the kernel that are the same everywhere. */
function cpuSeconds(pid: number): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15).map(Number);
  return (user + system) / 100;
}

/** Looks as honest peers do, until the deadline. */
async function watch({ pid, metricsUrl }: ExporterProcess, ports: Ports, deadline: number) {
  const admin = `http://127.0.0.1:${ports.admin}`;
  const seen = {
    healthy: new Times(),
    scrape: new Times(),
    read: new Times(),
    dryRun: new Times(),
    alert: new Times(),
  };
  let oldestSeconds = 0;
  let residentBytes = 0;
  let sent = 0;
  const startedAtMs = steadyNow();
  const cpuBefore = cpuSeconds(pid);
  const every = async (ms: number, work: () => Promise<void>): Promise<void> => {
    while (steadyNow() < deadline) {
      await work();
      await sleep(ms, new AbortController().signal);
    }
  };
  const get = (url: string, headers = {}) => honestPost(url, { headers });
  await Promise.all([
    every(250, () => seen.healthy.time(() => get(`${metricsUrl}/-/healthy`))),
    every(1_000, async () => {
      residentBytes = Math.max(residentBytes, usageOf(pid).residentBytes);
    }),
    every(5_000, () =>
      seen.scrape.time(async () => {
        const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(10_000) });
        const page = await answer.text();
        for (const line of seriesOf(page, 'zlb_collector_last_success_timestamp_seconds', { collector: 'farms' }))
          if (!line.includes('"hostile"'))
            oldestSeconds = Math.max(oldestSeconds, Date.now() / 1_000 - Number(line.slice(line.lastIndexOf(' '))));
        return answer.ok;
      }),
    ),
    every(1_000, () => seen.read.time(() => get(`${admin}/appliances/${shared}/farms`, authorized('honest')))),
    every(1_000, () =>
      seen.dryRun.time(() =>
        honestPost(`${admin}/appliances/${shared}/farms/farm-0001/actions`, {
          method: 'PUT',
          headers: authorized('honest', { 'content-type': 'application/json', 'x-dry-run': 'true' }),
          body: '{"action":"restart"}',
        }),
      ),
    ),
    every(1_000, () =>
      seen.alert.time(() =>
        honestPost(`${admin}/alerts`, {
          method: 'POST',
          headers: authorized('honestAlertmanager', { 'content-type': 'application/json' }),
          body: '{"version":"4","alerts":[]}',
        }),
      ),
    ),
    every(1_000, async () => {
      const socket = connect({ port: ports.log, host: '127.0.0.1', localAddress: '127.0.0.20' });
      socket.on('error', () => undefined);
      socket.end('<134>Nov 26 04:17:34 lb sshd: x\n');
      sent += 1;
    }),
  ]);
  const processor = (100_000 * (cpuSeconds(pid) - cpuBefore)) / (steadyNow() - startedAtMs);
  await sleep(3_000, new AbortController().signal);
  const page = await fetch(`${metricsUrl}/metrics`).then((answer) => answer.text());
  const [line = ''] = seriesOf(page, 'zlb_request_log_lines_total', { appliance: shared, result: 'other' });
  return {
    'largest memory, MB': String(Math.round(Math.max(residentBytes, usageOf(pid).maxResidentBytes) / 1e6)),
    'processor, % of a core': processor.toFixed(0),
    'oldest farms, s': oldestSeconds.toFixed(0),
    'healthy, ms': seen.healthy.text,
    'scrape, ms': seen.scrape.text,
    'read, ms': seen.read.text,
    'dry run, ms': seen.dryRun.text,
    'alerts, ms': seen.alert.text,
    'lines counted': `${line.slice(line.lastIndexOf(' ') + 1)}/${sent}`,
  };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

async function runWay({ reply, clients, to = 'metrics' }: Way, minutes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-attack-'));
  const appliances = startWorker<PeerCalls>(new URL('attack/peers.ts', import.meta.url));
  const attackers = startWorker<PeerCalls>(new URL('attack/peers.ts', import.meta.url));
  const loopTimes = join(folder, 'loop');
  const memory = limited(watched, loopTimes);
  let exporter: ExporterProcess | undefined;
  const last: string[] = [];
  const ports: Ports = { admin: 0, log: 0, metrics: 0 };
  try {
    const { key, appliances: all } = await appliances.ask('startGood', { count: good });
    const hostile = await attackers.ask('startHostile', { reply });
    const file = join(folder, 'zlb.yml');
    writeFileSync(file, JSON.stringify(configurationOf([...all, hostile], key, folder)));
    exporter = await startExporterProcess({
      program: memory.program,
      args: [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
      onLine(line, entry) {
        if (entry?.['msg'] === 'admin gateway listening') ports.admin = portOf(String(entry['url']));
        if (entry?.['msg'] === 'receiving the log of requests') ports.log = portOf(String(entry['addresses']));
        if (last.push(line.slice(0, 300)) > 5) last.shift();
      },
    });
    const { metricsUrl } = exporter;
    ports.metrics = portOf(metricsUrl);
    await until(
      async () => (await fetch(`${metricsUrl}/api/status?appliance=${shared}`)).text(),
      (text) => text.includes('farm-0001') && ports.admin > 0 && ports.log > 0,
      180_000,
    );
    writeFileSync(loopTimes, '');
    for (const each of clients) await attackers.ask('attack', { ...each, port: ports[to] });
    const seen = await watch(exporter, ports, steadyNow() + minutes * 60_000);
    const held = readFileSync(loopTimes, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => Number(line.split(' ')[1]));
    return {
      ...seen,
      'event loop held, ms of processor': `${Math.round(Math.max(0, ...held))}, ${held.length} times over 50`,
    };
  } catch (error) {
    return { ended: `${String(error)}: ${last.join(' | ')}` };
  } finally {
    await attackers.stop();
    await exporter?.stop();
    await appliances.stop();
    memory.remove();
    rmSync(folder, { recursive: true });
  }
}

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '3' } },
  allowPositionals: true,
});
for (const [name, way] of Object.entries(ways)) {
  if (positionals.length > 0 && !positionals.some((word) => name.includes(word))) continue;
  const found = await runWay(way, Number(values.minutes));
  console.log(`\n${name}\n${inColumns(Object.entries(found))}`);
}
