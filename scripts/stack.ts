import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { createCertificate } from '../simulator/certificate.ts';
import { startDemonstration } from '../simulator/demo.ts';
import { beginFaults, startFaultSwitch, UnknownFaultError } from '../simulator/fault-switch.ts';
import { sendLogsTo, watchedSimulation } from '../src/commands/demonstration/watched.ts';
import { makeToken } from '../src/commands/token.ts';
import { parseListenAddress } from '../src/lib/address.ts';
import { errorCode } from '../src/lib/check.ts';
import { freePort } from '../test/support/free-port.ts';
import { readRuleFiles, ruleFiles } from './rule-files.ts';
import {
  impatientRules,
  localAlertmanagerConfiguration,
  localPrometheusConfiguration,
  quickened,
} from './stack/configuration.ts';
import { createTeller, startReceiver } from './stack/notifications.ts';
import { lastWords, type Program, reachable, ready, StackError, startProgram } from './stack/program.ts';
import { startAlertmanager, startPrometheus } from './stack/server.ts';

// `npm run stack`: everything on simulated load balancers, until Ctrl-C.

const usual = { exporter: 9444, gateway: 9445, prometheus: 9090, alertmanager: 9093 } as const;
type Listener = keyof typeof usual;
const listeners = Object.keys(usual) as readonly Listener[];
const address = (name: Listener) => ({ type: 'string', example: `127.0.0.1:${usual[name]}` }) as const;
const options = {
  prometheus: { type: 'string', example: '/usr/bin/prometheus' },
  alertmanager: { type: 'string', example: '/usr/bin/prometheus-alertmanager' },
  'exporter.listen-address': address('exporter'),
  'gateway.listen-address': address('gateway'),
  'prometheus.listen-address': address('prometheus'),
  'alertmanager.listen-address': address('alertmanager'),
  patient: { type: 'boolean' },
  fault: { type: 'string', example: 'lb-madrid/hung-proxy/shop' },
  help: { type: 'boolean', short: 'h' },
} as const;

const help = `npm run stack [-- FLAGS]

Simulated load balancers, the exporter, Prometheus with alerts/zlb*.rules.yml and
Alertmanager on this machine, until Ctrl-C. Nothing is kept and nothing leaves the
machine: notifications are printed here.

  --patient                       alerts with a \`for\` wait for minutes, as they ship, not seconds
  --fault=lb-madrid/hung-proxy/shop
                                  faults to begin with, separated by commas (docs/command-line.md)
  --prometheus=PATH               another Prometheus than the one in PATH
  --alertmanager=PATH             another Alertmanager than Debian's prometheus-alertmanager
${listeners.map((name) => `  --${name}.listen-address=127.0.0.1:${usual[name]}`).join('\n')}`;

type Addresses = Readonly<Record<Listener, string>>;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const shipped = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const stopping = new AbortController();
// The reader of the output may stop early, as `head` does; everything must still be stopped then.
process.stdout.on('error', () => stopping.abort());
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  process.stderr.write(`${error.message.replaceAll(/^(?! )/gm, 'stack: ')}\n`);
  process.exitCode = 1;
}

async function main(words: readonly string[]): Promise<void> {
  const flags = parseFlags(words);
  if (flags.help) return say(help);
  const addresses = Object.fromEntries(
    listeners.map((name) => [name, flags[`${name}.listen-address`] ?? options[`${name}.listen-address`].example]),
  ) as Addresses;
  for (const name of listeners) await refuseTaken(name, addresses[name]);
  const folder = mkdtempSync(join(tmpdir(), 'zlb-stack-'));
  const owned: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    await run(flags, { folder, addresses, own: (close) => void owned.push(close) });
  } catch (error) {
    // Ctrl-C reaches the programs too: one may end in the middle of its start.
    if (!stopping.signal.aborted || !(error instanceof StackError || error === stopping.signal.reason)) throw error;
  } finally {
    for (const close of owned.reverse()) await close();
  }
  say('Stopped.');
}

type Flags = ReturnType<typeof parseFlags>;

function parseFlags(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    // The first sentence names the flag; the others are about parseArgs.
    const [sentence] = String(error instanceof Error ? error.message : error).split('. ');
    throw new StackError(`${sentence}; npm run stack -- --help lists the flags`, { cause: error });
  }
}

/** Rejects before anything is started: Debian starts a Prometheus of its own on the usual port. */
async function refuseTaken(name: Listener, text: string): Promise<void> {
  const flag = `npm run stack -- --${name}.listen-address=127.0.0.1:PORT`;
  const parsed = parseListenAddress(text);
  if (!parsed || parsed.port === 0) throw new StackError(`${text} is not host:port or :port; type ${flag}`);
  const server = createServer();
  try {
    server.listen(parsed.port, parsed.host);
    await once(server, 'listening');
  } catch (error) {
    throw new StackError(`cannot listen on ${text} (${errorCode(error)}); stop what uses it, or ${flag}`);
  }
  server.close();
  await once(server, 'close');
}

interface Place {
  readonly folder: string;
  readonly addresses: Addresses;
  /** Names a part to close at the end; the newest is closed first. */
  readonly own: (close: () => unknown) => void;
}

/** Starts the programs in this order, so that none looks for another that is not there yet. */
async function run(flags: Flags, { folder, addresses, own }: Place): Promise<void> {
  const { signal } = stopping;
  const places = Object.fromEntries(
    Object.entries(addresses).map(([name, text]) => [name, reachable(text)]),
  ) as Addresses;
  const tell = createTeller(`http://${places.gateway}/console`);
  const receiver = await startReceiver((delivery) => tell(delivery, new Date()).forEach(say));
  own(() => receiver.close());
  const tokens = { demo: makeToken(), approver: makeToken(), alertmanager: makeToken() };
  const gateway = { url: `http://${places.gateway}`, tokenFile: 'gateway-token' };
  const alertmanager = await startAlertmanager({
    folder: join(folder, 'alertmanager'),
    address: addresses.alertmanager,
    config: localAlertmanagerConfiguration(shipped('alerts/alertmanager.example.yml'), {
      people: receiver.url,
      gateway,
    }),
    files: { [gateway.tokenFile]: tokens.alertmanager.token },
    command: flags.alertmanager,
  });
  own(() => alertmanager.stop());
  signal.throwIfAborted();
  const apiKey = randomBytes(16).toString('hex');
  const { appliances, close } = await startDemonstration({ apiKey, latency: 'realistic' });
  own(close);
  await beginFaults(appliances, flags.fault ?? '').catch((error: unknown) => {
    throw error instanceof UnknownFaultError ? new StackError(error.message) : error;
  });
  const faults = await startFaultSwitch(appliances);
  own(() => faults.close());
  await renew(join(folder, 'renewed'), 'soon.example.com');
  const file = join(folder, 'zlb.yml');
  const requestLog = `127.0.0.1:${await freePort()}`;
  const settings = configuration({ appliances, apiKey, tokens, folder, addresses, requestLog });
  await writeFile(file, stringify(settings), { mode: 0o600 });
  sendLogsTo(requestLog, appliances);
  const exporter = await startProgram({
    name: 'the exporter',
    command: process.execPath,
    args: ['src/main.ts', `--config.file=${file}`, `--web.listen-address=${addresses.exporter}`],
    remedy: 'is Node.js still where it was?',
  });
  own(() => exporter.stop());
  // The gateway listens after it.
  await ready(exporter, `http://${places.gateway}/console`);
  signal.throwIfAborted();
  const scraping = localPrometheusConfiguration(shipped('deploy/prometheus/prometheus.yml'), places);
  const rules = readRuleFiles();
  const prometheus = await startPrometheus({
    folder: join(folder, 'prometheus'),
    address: addresses.prometheus,
    config: flags.patient ? scraping : quickened(scraping),
    files: flags.patient
      ? Object.fromEntries(ruleFiles.map((name, index) => [name, rules[index] ?? '']))
      : { 'zlb.rules.yml': impatientRules(rules) },
    command: flags.prometheus,
  });
  own(() => prometheus.stop());
  signal.throwIfAborted();
  say(
    introduction(
      appliances,
      { ...places, faults: faults.url },
      { demo: tokens.demo.token, approver: tokens.approver.token },
    ),
  );
  await untilStopped([alertmanager, exporter, prometheus]);
}

async function untilStopped(programs: readonly Program[]): Promise<void> {
  const ends = programs.map(async (program) => {
    throw new StackError(lastWords(program, `ended: ${await program.ended}; everything was stopped`));
  });
  await Promise.race([once(stopping.signal, 'abort'), ...ends]);
}

type Appliances = Awaited<ReturnType<typeof startDemonstration>>['appliances'];

interface Configured {
  readonly appliances: Appliances;
  readonly apiKey: string;
  readonly tokens: Readonly<Record<'demo' | 'approver' | 'alertmanager', { readonly sha256: string }>>;
  readonly folder: string;
  readonly addresses: Addresses;
  /** The address that receives the log of requests. */
  readonly requestLog: string;
}

function configuration({ appliances, apiKey, tokens, folder, addresses, requestLog }: Configured): object {
  return {
    ...watchedSimulation(appliances, apiKey, requestLog),
    admin: {
      listen_address: addresses.gateway,
      journal_file: join(folder, 'journal.db'),
      approvals: { certificates_folder: join(folder, 'renewed') },
      tokens: [
        { name: 'demo', sha256: tokens.demo.sha256, role: 'admin' },
        { name: 'approver', sha256: tokens.approver.sha256, role: 'admin', approver: true },
        { name: 'alertmanager', sha256: tokens.alertmanager.sha256, role: 'alertmanager' },
      ],
    },
  };
}

/** Stores a new certificate for a name as an ACME client does. */
async function renew(folder: string, name: string): Promise<void> {
  const { cert, key } = createCertificate({
    subject: { CN: name },
    altNames: [`DNS:${name}`],
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 90 * 86_400_000),
  });
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'fullchain.pem'), cert);
  await writeFile(join(folder, name, 'privkey.pem'), key, { mode: 0o600 });
}

/** Returns the text after the start: what to open, what to try. */
function introduction(
  appliances: Appliances,
  { exporter, gateway, prometheus, alertmanager, faults }: Addresses & { readonly faults: string },
  tokens: Readonly<Record<'demo' | 'approver', string>>,
): string {
  return `Seven simulated load balancers, the exporter, Prometheus and Alertmanager are running.

${appliances.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}

Open
  http://${prometheus}/alerts        the alerts: inactive, pending, firing
  http://${alertmanager}/#/alerts      what was routed, grouped, inhibited
  http://${exporter}/              what is wrong now, and how everything is
  http://${gateway}/docs          every operation of the API, to read and try
  http://${gateway}/console       changes that wait for a decision

Try, in another terminal, in the same folder
  Stop a farm, and see its alert fire after two and a half minutes; restart it, and RESOLVED comes.

  export ZLB_ADMIN_URL=http://${gateway}
  export ZLB_ADMIN_TOKEN=${tokens.demo}
  ./zlb-exporter admin lb-paris-1 actOnFarm farmname=www action=stop --reason=trying --yes
  ./zlb-exporter admin lb-paris-1 restart-farm farm=www --reason=ZlbFarmDown --yes

  The farm "payments" of lb-madrid needs a restart: its alert proposes one, and a second person
  approves it. Open the link of the notification, and sign in with this token:

  export ZLB_ADMIN_TOKEN=${tokens.approver}
  ./zlb-exporter admin changes approve ID --watch --reason=looked-at-it

  Cause a fault, end it, list them (docs/command-line.md):

  curl -X PUT ${faults}/lb-madrid/hung-proxy/shop
  curl -X DELETE ${faults}/lb-madrid/hung-proxy/shop
  curl ${faults}

Rules, routes and inhibitions are those of alerts/; without --patient, what has a \`for\` waits for
seconds instead of minutes. With Grafana and the dashboards: deploy/README.md. Stop with Ctrl-C.

Notifications`;
}
