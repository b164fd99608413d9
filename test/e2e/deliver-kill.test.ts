import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect as connectTcp, createServer as createTcpServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { request } from 'undici';
import type { SimulatedAppliance } from '../../simulator/server.ts';
import { fileOf, given, httpsFarm, isNew, worldWith } from '../integration/deliver/given-deliver.ts';
import { issue, name } from '../support/issue.ts';
import { listening } from '../support/listening.ts';
import { collectOutput } from '../support/process.ts';
import { servedCertificate } from '../support/simulated-farms.ts';
import { until } from '../support/until.ts';

const [shop, intranet] = ['192.0.2.40:443', '192.0.2.40:8443'];

/** The changes of a delivery, as the gateway is asked for them. */
const changes = {
  upload: /^POST \/appliances\/lb-\d\/certificates\//,
  attach: /^POST \/appliances\/lb-\d\/farms\/shop\/certificates$/,
  detach: /^DELETE \/appliances\/lb-\d\/farms\/shop\/certificates\//,
  restart: /^PUT \/appliances\/lb-\d\/farms\/shop\/actions$/,
} as const;

/** When it is killed: before the gateway has the call, while it has it, or before the answer. */
const moments = ['before it', 'during it', 'after it'] as const;

interface Kill {
  readonly appliance: string;
  readonly step: keyof typeof changes | 'look';
  readonly moment: (typeof moments)[number];
}

const kills: readonly Kill[] = [
  ...['lb-1', 'lb-2'].flatMap((appliance) =>
    (Object.keys(changes) as (keyof typeof changes)[]).flatMap((step) =>
      moments.map((moment): Kill => ({ appliance, step, moment })),
    ),
  ),
  { appliance: 'lb-1', step: 'look', moment: 'before it' },
];

/** A gateway in front of the gateway, which kills the process that it waits for. */
async function startProxy(target: string, { appliance, step, moment }: Kill, kill: () => Promise<boolean>) {
  const isMeant = (line: string, headers: IncomingHttpHeaders): boolean =>
    step !== 'look' && changes[step].test(line) && line.includes(appliance) && headers['x-dry-run'] === undefined;
  const server = createServer((asked, response) => {
    void (async () => {
      const body = await buffer(asked);
      const { method = 'GET', url = '/', headers } = asked;
      const isLast = isMeant(`${method} ${url}`, headers);
      if (isLast && moment === 'before it' && (await kill())) return;
      const { connection: _, 'transfer-encoding': __, host: ___, ...passed } = headers;
      // As the kernel closes the connection of a process that was killed.
      const gone = new AbortController();
      const options = {
        method: method as 'GET',
        headers: passed,
        signal: gone.signal,
        ...(body.length > 0 && { body }),
      };
      const pending = request(new URL(url, target), options).catch((error: unknown) => error as Error);
      if (isLast && moment === 'during it' && (await kill())) return gone.abort();
      const answer = await pending;
      if (answer instanceof Error) throw answer;
      const content = Buffer.from(await answer.body.arrayBuffer());
      if (isLast && (await kill())) return;
      response.writeHead(answer.statusCode, answer.headers).end(content);
    })();
  });
  return await listening(server);
}

/** A way to the farms of an appliance, which kills the process when it connects. */
async function startWay(way: { port: number; kill: () => Promise<unknown> }) {
  return await listening(
    createTcpServer((socket) => {
      void way.kill().then(() => {
        const farm = connectTcp({ port: way.port, host: '127.0.0.1' });
        farm.on('error', () => socket.destroy());
        socket
          .on('error', () => farm.destroy())
          .pipe(farm)
          .pipe(socket);
      });
    }),
  );
}

async function givenDelivery(kill: Kill) {
  const old = issue({ from: -60, until: 29 });
  const renewed = issue();
  let running: ChildProcess | undefined;
  let kills = 0;
  /** Resolves to true if it killed the process now. */
  const killOnce = async (): Promise<boolean> => {
    if (!running || kills > 0) return false;
    kills += 1;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
    return true;
  };
  const way = { port: 0, kill: kill.step === 'look' ? killOnce : async () => undefined };
  const wayPort = await startWay(way);
  const worlds = { 'lb-1': worldWith(old), 'lb-2': worldWith(old) };
  const cli = await given(worlds, renewed, {
    vip: (appliances, appliance) => {
      const addresses = appliances.get(appliance)?.farms?.addresses ?? {};
      if (appliance === 'lb-1') way.port = Number(addresses[shop]?.split(':')[1]);
      return {
        networks: ['192.0.2.0/24', '127.0.0.1'],
        connect_to: { ...addresses, ...(appliance === 'lb-1' && { [shop]: `127.0.0.1:${wayPort}` }) },
      };
    },
  });
  const port = await startProxy(cli.url, kill, killOnce);

  async function deliver(): Promise<{ readonly code: number | null; readonly printed: string }> {
    const child = spawn(process.execPath, ['src/main.ts', ...cli.words], {
      env: { ...process.env, ZLB_ADMIN_URL: `http://127.0.0.1:${port}`, ZLB_ADMIN_TOKEN: cli.tokenOf('admin') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running = child;
    const output = collectOutput(child);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, printed: output.stdout() + output.stderr() };
  }

  const serials = new Map([
    [new X509Certificate(old.cert).serialNumber, 'old'],
    [new X509Certificate(renewed.cert).serialNumber, 'new'],
  ]);
  const served = async (): Promise<readonly string[]> => {
    const certificates = [...cli.appliances.values()].map((each) => servedCertificate(each, shop, name));
    return (await Promise.all(certificates)).map(({ serialNumber }) => serials.get(serialNumber) ?? 'another');
  };
  return { ...cli, worlds, deliver, served, wasKilled: () => kills === 1 };
}

/** A connection to a farm, which a restart of the farm would end. */
async function holdConnection({ farms }: SimulatedAppliance, address: string) {
  const port = Number(farms?.addresses[address]?.split(':')[1]);
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  return socket;
}

it.each(kills)(
  'deliver killed at $step on $appliance, $moment, is finished by the next run',
  async (kill) => {
    const { deliver, served, done, audit, appliances, worlds, wasKilled } = await givenDelivery(kill);
    const others = await Promise.all([...appliances.values()].map((each) => holdConnection(each, intranet)));

    const first = await deliver();
    const lines = await until(audit, (all) => unfinished(all).length === 0);
    const between = await served();
    const second = await deliver();
    const after = await done();
    const third = await deliver();

    expect([wasKilled(), first.code, unfinished(lines)]).toEqual([true, null, []]);
    for (const serial of between) expect(['old', 'new']).toContain(serial);
    expect([second.code, third.code], second.printed + third.printed).toEqual([0, 0]);
    expect(third.printed.match(/has it already +served/g)).toHaveLength(2);
    expect(await served()).toEqual(['new', 'new']);
    expect(await done()).toEqual(after);
    expect(unfinished(await audit())).toEqual([]);
    expect(others.map(({ closed }) => closed)).toEqual([false, false]);
    for (const world of Object.values(worlds)) {
      expect(fileOf(world)).toEqual([isNew]);
      expect(httpsFarm(world, 'shop').needsRestart).toBe(false);
    }
  },
  60_000,
);

/** The calls in the audit that have an intent and no outcome. */
function unfinished(lines: readonly Record<string, unknown>[]): readonly unknown[] {
  const ended = new Set(lines.filter(({ event }) => event === 'outcome').map(({ request }) => request));
  return lines.filter(({ event, request }) => event === 'intent' && !ended.has(request));
}
