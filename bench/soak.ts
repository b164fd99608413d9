import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Fault } from '../simulator/faults.ts';
import { sleep, steadyNow } from '../src/lib/time.ts';
import { parseExposition } from '../test/support/exposition-parser.ts';
import { until } from '../test/support/until.ts';
import { type ExporterProcess, startExporterProcess } from './exporter.ts';
import { installPackage, type Program } from './installed.ts';
import { usageOf } from './measure.ts';
import { createRandom, type Random } from './random.ts';
import { runFacts } from './results.ts';
import type { ApplianceCalls } from './soak-appliances.ts';
import { startWorker, type Worker } from './worker.ts';

// `npm run soak`: an installed exporter and appliances that break, with bad clients and reloads.

export interface SoakOptions {
  readonly program: Program;
  readonly minutes: number;
  readonly appliances: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** One line of the result; without a goal it is only a figure. */
export interface Finding {
  readonly name: string;
  readonly value: string;
  readonly goal?: string;
  readonly holds?: boolean;
}

const apiKey = 'canary-of-the-soak-0123456789';
const scrapeEveryMs = 5_000;
/** A trouble lasts longer than any reading of farms may stay. */
const troubleMs = 50_000;
const recoveryMs = 130_000;
const badClients = 24;

const troubles: readonly Fault[] = [
  { kind: 'refuse' },
  { kind: 'hang' },
  { kind: 'expired_tls' },
  { kind: 'slow_body', bytesPerSecond: 20 },
  { kind: 'truncated' },
  { kind: 'html' },
  { kind: 'status', status: 503 },
  { kind: 'huge_body', bytes: 20_000_000 },
];

/** Runs the exporter for some minutes, and returns what was found. */
export async function runSoak(options: SoakOptions): Promise<readonly Finding[]> {
  const { program, minutes, appliances, seed, say } = options;
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'zlb-soak-'));
  const worker = startWorker<ApplianceCalls>(new URL('soak-appliances.ts', import.meta.url));
  const output = { leaks: 0, stray: 0 };
  let exporter: ExporterProcess | undefined;
  const clients = createBadClients(random);
  try {
    const { urls, fingerprintSha256 } = await worker.ask('start', { count: appliances, apiKey });
    const file = join(folder, 'zlb.yml');
    const entries = urls.map((url, index) => ({
      name: nameOf(index),
      url,
      api_key: apiKey,
      tls: { fingerprint_sha256: fingerprintSha256 },
    }));
    const write = (count: number) => writeFileSync(file, JSON.stringify(configuration(entries.slice(0, count))));
    write(appliances);
    exporter = await startExporterProcess({
      program,
      args: [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
      onLine(line, entry) {
        if (line.includes(apiKey)) output.leaks += 1;
        if (!entry || entry['level'] === 'error') output.stray += 1;
      },
    });
    const { pid, metricsUrl } = exporter;
    say(`${appliances} appliances, seed ${seed}; waiting until all have been read`);
    await until(
      async () => (await fetch(`${metricsUrl}/-/ready`)).status,
      (status) => status === 200,
      240_000,
    );
    const watch = createWatch(exporter, appliances);
    clients.startAt(metricsUrl);
    const deadline = steadyNow() + minutes * 60_000;
    const looking = lookAgain(watch, deadline);
    for (let round = 0; steadyNow() < deadline; round += 1)
      await troubleRound({ worker, watch, random, deadline, write, appliances, say }, exporter, round);
    await looking;
    const usage = usageOf(pid);
    clients.stop();
    const code = await exporter.stop();
    return [
      ...watch.findings(),
      { name: 'open files and sockets at the end', value: `${usage.handles}` },
      none('secrets in its output', output.leaks),
      none('errors and stray lines in its output', output.stray),
      { name: 'exit code', value: `${code}`, goal: '0', holds: code === 0 },
    ];
  } finally {
    clients.stop();
    exporter?.kill();
    await worker.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Two in ten have no trouble, ever. */
function isControl(index: number): boolean {
  return index % 10 < 2;
}

function nameOf(index: number): string {
  return `lb-${String(index + 1).padStart(3, '0')}`;
}

/** Schedules so short that a soak sees many cycles. */
function configuration(appliances: readonly object[]): object {
  return {
    appliances,
    collectors: {
      farms: { schedule: '*/10 * * * * *', max_stale: '30s' },
      summary: { schedule: '*/20 * * * * *', max_stale: '40s' },
    },
    polling: { timeout: '5s', max_busy_ratio: 1, jitter: '0%' },
  };
}

interface RoundParts {
  readonly worker: Worker<ApplianceCalls>;
  readonly watch: Watch;
  readonly random: Random;
  readonly deadline: number;
  readonly write: (count: number) => void;
  readonly appliances: number;
  readonly say: (line: string) => void;
}

/** Breaks some appliances, reloads meanwhile, looks at what is shown of them, and heals them. */
async function troubleRound(parts: RoundParts, exporter: ExporterProcess, round: number): Promise<void> {
  const { worker, watch, random, deadline, write, appliances, say } = parts;
  const faulty = Array.from({ length: appliances }, (_, index) => index).filter((index) => !isControl(index));
  const indexes = random.shuffle(faulty).slice(0, Math.ceil(faulty.length / 2));
  const fault = random.pick(troubles);
  say(`${fault.kind} on ${indexes.length} of ${appliances} appliances`);
  await worker.ask('fail', { indexes, fault });
  // The last one comes and goes; nothing may happen to the others.
  write(round % 2 === 0 ? appliances - 1 : appliances);
  exporter.reload();
  const left = deadline - steadyNow();
  await sleep(Math.min(troubleMs, left), new AbortController().signal);
  if (left >= troubleMs) await watch.expectGone(indexes.filter((index) => index !== appliances - 1).map(nameOf));
  await worker.ask('heal', undefined);
  // The breaker waits two minutes at most.
  await sleep(Math.max(0, Math.min(recoveryMs, deadline - steadyNow())), new AbortController().signal);
}

async function lookAgain(watch: Watch, deadline: number): Promise<void> {
  while (steadyNow() < deadline) {
    await watch.look();
    await sleep(scrapeEveryMs, new AbortController().signal);
  }
}

type Watch = ReturnType<typeof createWatch>;

/** Reads the page of metrics, and counts what must not be. */
function createWatch({ pid, metricsUrl }: ExporterProcess, appliances: number) {
  const found = { pages: 0, unanswered: 0, invalid: 0, fallen: 0, lost: 0, down: 0, shown: 0, leaks: 0 };
  const counters = new Map<string, number>();
  const controls = Array.from({ length: appliances }, (_, index) => index)
    .filter(isControl)
    .map(nameOf);
  let steady: ReadonlySet<string> | undefined;
  const memory: { readonly atMs: number; readonly bytes: number }[] = [];

  async function read() {
    const text = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(10_000) }).then(
      (answer) => (answer.ok ? answer.text() : undefined),
      () => undefined,
    );
    if (text === undefined) {
      found.unanswered += 1;
      return [];
    }
    found.pages += 1;
    if (text.includes(apiKey)) found.leaks += 1;
    try {
      return parseExposition(text, 'text');
    } catch {
      found.invalid += 1;
      return [];
    }
  }

  return {
    async look(): Promise<void> {
      const families = await read();
      if (families.length === 0) return;
      const seen = new Set<string>();
      for (const { type, samples } of families)
        for (const { name, labels, value } of samples) {
          const key = `${name} ${JSON.stringify(labels)}`;
          const isOfControl = controls.includes(labels['appliance'] ?? '');
          if (isOfControl) seen.add(key);
          // The appliance that comes and goes starts its counters again: it is not a control.
          if (type === 'counter' && (isOfControl || labels['appliance'] === undefined)) {
            if (value < (counters.get(key) ?? 0)) found.fallen += 1;
            counters.set(key, value);
          }
          if (isOfControl && name === 'zlb_up' && value !== 1) found.down += 1;
        }
      if (steady) found.lost += [...steady].filter((key) => !seen.has(key)).length;
      steady = seen;
      memory.push({ atMs: steadyNow(), bytes: usageOf(pid).residentBytes });
    },
    /** Counts appliances in trouble that are shown as up, or with the states of farms. */
    async expectGone(names: readonly string[]): Promise<void> {
      for (const { name: family, samples } of await read())
        for (const { labels, value } of samples)
          if (names.includes(labels['appliance'] ?? ''))
            if (family === 'zlb_farm_status' || (family === 'zlb_up' && value === 1)) found.shown += 1;
    },
    findings(): readonly Finding[] {
      const { pages, unanswered, invalid, fallen, lost, down, shown, leaks } = found;
      return [
        { name: 'pages read', value: `${pages}`, goal: 'at least 5', holds: pages >= 5 },
        none('scrapes without an answer', unanswered),
        none('pages that are not valid', invalid),
        none('counters that fell', fallen),
        none('series lost of appliances without trouble', lost),
        none('appliances without trouble that were not up', down),
        none('old readings shown of appliances in trouble', shown),
        none('secrets on pages', leaks),
        growth(memory),
      ];
    },
  };
}

/** Compares the lowest memory of the last quarter with that of the second; an hour is needed. */
function growth(points: readonly { readonly atMs: number; readonly bytes: number }[]): Finding {
  const name = 'growth of memory';
  const [first, last] = [points[0]?.atMs ?? 0, points.at(-1)?.atMs ?? 0];
  const lowest = (from: number, to: number): number =>
    Math.min(
      ...points.flatMap(({ atMs, bytes }) => {
        const place = (atMs - first) / (last - first);
        return place >= from && place < to ? bytes : [];
      }),
    );
  const ratio = lowest(0.75, 1) / lowest(0.25, 0.5);
  const value = `${((ratio - 1) * 100).toFixed(1)} %`;
  if (last - first < 3_600_000) return { name, value };
  return { name, value, goal: 'at most 5 %', holds: ratio <= 1.05 };
}

function none(name: string, count: number): Finding {
  return { name, value: `${count}`, goal: 'none', holds: count === 0 };
}

/** Clients that send half a request, or read nothing of a page. */
function createBadClients(random: Random) {
  const sockets = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;

  function open(url: URL): void {
    const socket = connect(Number(url.port), url.hostname);
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    socket.pause();
    socket.write(
      random.pick([
        'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET /metr',
        '\u0016\u0003\u0001',
        'GET / HTTP/1.1\r\nX: ',
      ]),
    );
  }

  return {
    startAt(metricsUrl: string): void {
      timer = setInterval(() => {
        if (sockets.size >= badClients) random.pick([...sockets]).destroy();
        else open(new URL(metricsUrl));
      }, 500);
    },
    stop(): void {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '120' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  });
  const facts = runFacts();
  const installed = installPackage();
  const findings = await runSoak({
    program: [installed.command],
    minutes: Number(values.minutes),
    appliances: 100,
    seed: Number(values.seed),
    say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
  }).finally(() => installed.remove());
  for (const { name, value, goal = '', holds } of findings)
    console.log(`${name.padEnd(50)} ${value.padStart(10)}  ${goal}${holds === false ? '  NOT HELD' : ''}`);
  const results = { ...facts, endedAt: new Date().toISOString(), findings };
  writeFileSync(new URL('soak-results.json', import.meta.url), `${JSON.stringify(results, undefined, 2)}\n`);
  process.exitCode = findings.some(({ holds }) => holds === false) ? 1 : 0;
}
