import { createServer } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createCertificate } from '../../simulator/certificate.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { startDaemon } from '../../src/app/daemon.ts';
import { openConnectionsTo } from '../support/connections.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { settingsOf } from '../support/settings.ts';
import { until } from '../support/until.ts';
import { httpsFarm, listening, times, worldOf } from './given-vip.ts';

const farmCount = 500;
const minuteMs = 60_000;
const farmsEveryMs = 5_000;
const rounds = 2;
const deafCount = 30;

/** A port with a farm for each name, which notes when each was asked for, and how many at once. */
async function givenFarms() {
  const { key, cert } = createCertificate({
    subject: { CN: 'farm.test' },
    notBefore: new Date(times.notBefore),
    notAfter: new Date(times.notAfter),
  });
  const asked = new Map<string, number[]>();
  const server = createTlsServer({ key, cert }, ({ servername }: TLSSocket) => {
    const name = String(servername);
    asked.set(name, [...(asked.get(name) ?? []), performance.now()]);
  });
  const most = { open: 0 };
  const { port } = await listening(server);
  const sample = (): void => {
    most.open = Math.max(most.open, openConnectionsTo(port, deaf.port));
  };
  let connections = 0;
  // The list of all connections takes long to read: at every tenth of them.
  server.on('connection', () => (connections++ % 10 === 0 ? sample() : undefined));
  const deaf = await listening(createServer(sample));
  return { port, deaf, asked, most };
}

/** The exporter with an appliance of 500 farms, the last of which never answer a handshake. */
async function given() {
  const { port, deaf, asked, most } = await givenFarms();
  const names = Array.from({ length: farmCount }, (_, index) => `f${index}`);
  const farms = names.map((name, index) =>
    httpsFarm(index < farmCount - deafCount ? port : deaf.port, { name, certificates: [] }),
  );
  const appliance = await startSimulatedAppliance({ world: worldOf(...farms), apiKey: 'any-key' });
  const settings = await settingsOf({
    appliances: [
      {
        name: 'lb-1',
        url: appliance.url,
        api_key: 'any-key',
        tls: { fingerprint_sha256: appliance.fingerprintSha256 },
        collectors: { farms: { schedule: '*/5 * * * * *' }, vip: { enabled: true } },
        vip: {
          networks: ['127.0.0.1'],
          server_names: Object.fromEntries(names.map((name) => [name, [`${name}.test`]])),
        },
      },
    ],
    polling: { jitter: 0 },
  });
  const daemon = await startDaemon({
    settings,
    listenAddress: '127.0.0.1:0',
    build: { version: '0.0.0', revision: 'test', nodeVersion: process.version },
    log: pino({ level: 'silent' }),
    now: Date.now,
    random: () => 0.5,
  });
  onTestFinished(async () => {
    await daemon.close();
    await appliance.close();
  });
  const page = async (): Promise<string> => await (await fetch(`${daemon.url}/metrics`)).text();
  /** True once every farm was asked so many times; the page would cost the exporter its time. */
  const isAsked = (times: number): boolean =>
    asked.size === farmCount - deafCount &&
    [...asked.values()].every((each) => each.length >= times) &&
    deaf.connections >= times * deafCount;
  return { appliance, asked, isAsked, most, page };
}

it(
  '500 farms, of which thirty never answer, are probed three at a time, and no cycle of polling is missed',
  async () => {
    const { appliance, asked, isAsked, most, page } = await given();
    const runs = (text: string, collector: string, outcome: string): number =>
      valueOf(text, 'zlb_collector_runs_total', { collector, outcome }) ?? 0;

    await until(() => isAsked(rounds), Boolean, (2 * rounds + 1) * minuteMs);
    const text = await until(page, (seen) => runs(seen, 'vip', 'success') >= rounds);

    const polled = appliance.requests
      .filter(({ route }) => route === 'GET /stats/farms')
      .map(({ startedAt }) => startedAt);
    const gaps = polled.slice(1).map((at, index) => at - polled[index]!);
    const again = [...asked.values()].flatMap((each) => each.slice(1).map((at, index) => at - each[index]!));
    console.log(
      [
        `${farmCount} farms, ${deafCount} of which never answer`,
        `  a run takes ${seconds(valueOf(text, 'zlb_collector_duration_seconds', { collector: 'vip' }) ?? 0)}`,
        `  sockets open at once: ${most.open}`,
        `  time between two probes of a farm: ${seconds(Math.min(...again) / 1_000)} at least`,
        `  runs of farms: ${runs(text, 'farms', 'success')}, skipped: ${runs(text, 'farms', 'skipped')}, at most ${seconds(Math.max(...gaps) / 1_000)} apart`,
      ].join('\n'),
    );
    expect(most.open).toBeLessThanOrEqual(3);
    expect(asked.size).toBe(farmCount - deafCount);
    expect(runs(text, 'farms', 'skipped')).toBe(0);
    expect(Math.max(...gaps)).toBeLessThan(2 * farmsEveryMs);
    expect(seriesOf(text, 'zlb_farm_reachable')).toHaveLength(farmCount);
  },
  6 * minuteMs,
);

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
