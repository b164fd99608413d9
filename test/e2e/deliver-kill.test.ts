import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
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

/** The steps of a delivery, by the beginning of their titles. */
const titles = { upload: 'Upload it as', attach: 'Attach ', detach: 'Remove ', restart: 'Restart ' } as const;

/** When it is killed: as a step begins, or as the step has ended. */
const moments = ['begin', 'end'] as const;

interface Kill {
  readonly appliance: string;
  readonly step: keyof typeof titles | 'ask' | 'look';
  readonly moment: (typeof moments)[number];
}

const kills: readonly Kill[] = [
  ...['lb-1', 'lb-2'].flatMap((appliance) => [
    { appliance, step: 'ask', moment: 'begin' } as const,
    ...(Object.keys(titles) as (keyof typeof titles)[]).flatMap((step) =>
      moments.map((moment): Kill => ({ appliance, step, moment })),
    ),
  ]),
  { appliance: 'lb-1', step: 'look', moment: 'begin' },
];

interface Asked {
  readonly appliance?: string;
  readonly run?: string;
}

/** A gateway in front of the gateway, which kills the process that it answers. */
async function startProxy(target: string, { appliance, step, moment }: Kill, kill: () => Promise<boolean>) {
  let hasRun = false;
  let title = '';
  /** Returns true for the line of the answer at which the process ends. */
  const isMeant = (line: string): boolean => {
    const event = (line === '' ? {} : JSON.parse(line)) as { readonly event?: string; readonly title?: string };
    if (event.event === 'begin') title = event.title ?? '';
    return step in titles && event.event === moment && title.startsWith(titles[step as keyof typeof titles]);
  };
  const server = createServer((asked, response) => {
    void (async () => {
      const body = await buffer(asked);
      const { method = 'GET', url = '/', headers } = asked;
      const change = (body.length > 0 ? JSON.parse(body.toString()) : {}) as Asked;
      const isRun = change.run === 'now' && !url.includes('dry_run');
      if (isRun && change.appliance === appliance && step === 'ask' && (await kill())) return;
      if (!isRun && hasRun && change.appliance === appliance && step === 'look' && (await kill())) return;
      hasRun ||= isRun;
      const { connection: _, 'transfer-encoding': __, host: ___, ...passed } = headers;
      // As the kernel closes the connection of a process that was killed.
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const answer = await request(new URL(url, target), {
        method: method as 'GET',
        headers: passed,
        signal: gone.signal,
        ...(body.length > 0 && { body }),
      });
      response.writeHead(answer.statusCode, answer.headers);
      if (!isRun) return void response.end(Buffer.from(await answer.body.arrayBuffer()));
      let rest = '';
      for await (const chunk of answer.body) {
        const lines = (rest + String(chunk)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (change.appliance === appliance && isMeant(line) && (await kill())) return;
          response.write(`${line}\n`);
        }
      }
      response.end();
    })().catch(() => response.destroy());
  });
  return await listening(server);
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
  const worlds = { 'lb-1': worldWith(old), 'lb-2': worldWith(old) };
  const cli = await given(worlds, renewed, {
    vip: (appliances, appliance) => ({
      networks: ['192.0.2.0/24', '127.0.0.1'],
      connect_to: appliances.get(appliance)?.farms?.addresses,
    }),
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

it.each(kills)('deliver killed at the $moment of $step on $appliance is finished by the next run', async (kill) => {
  const { deliver, served, done, audit, appliances, worlds, wasKilled, call } = await givenDelivery(kill);
  const others = await Promise.all([...appliances.values()].map((each) => holdConnection(each, intranet)));

  const first = await deliver();
  // The gateway ends what the process has begun.
  const changes = async () => (await call('GET', '/changes?state=open')).json?.changes as readonly unknown[];
  await until(changes, (open) => open.length === 0);
  const lines = await audit();
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
});

/** The changes in the audit that have more intents than outcomes. */
function unfinished(lines: readonly Record<string, unknown>[]): readonly unknown[] {
  const count = (kind: string, id: unknown): number =>
    lines.filter(({ event, request }) => event === kind && request === id).length;
  const ids = new Set(lines.filter(({ event }) => event === 'intent').map(({ request }) => request));
  return [...ids].filter((id) => count('intent', id) !== count('outcome', id));
}
