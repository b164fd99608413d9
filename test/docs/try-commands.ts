import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { namedCommands } from '../support/named-commands.ts';
import { collectOutput } from '../support/process.ts';
import { until } from '../support/until.ts';
import type { Machine } from './machine.ts';

/** A way in which the program is installed. */
interface Installation {
  /** The program, as it is typed before the words of a command. */
  readonly program: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** The values that a text leaves open, by the word before them or by their name. */
const values: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['HOST', 'HOST:PORT', 'HOST[:PORT]', 'HOST:444', '192.0.2.10', 'lb-rome.example.org:8444', '$vip:$vport'].map(
      (name) => [name, '192.0.2.10:444'],
    ),
  ),
  APPLIANCE: 'lb-madrid',
  CHECK: 'appliance',
  OPERATION: 'listFarms',
  RECIPE: 'backup',
  WORD: 'whoami',
  WORDS: 'farm',
  FILE: 'data/journal.db',
  FOLDER: 'simulation',
  '/var/backups/zlb-journal.db': 'data/journal.db',
  'fingerprint VALUE': '192.0.2.10:444',
  'admin VALUE': 'lb-madrid',
  'changes VALUE': 'list',
  'verify VALUE': 'data/journal.db',
  'name=value': 'name=weekly',
  'farm=VALUE': 'farm=shop',
  'farm=NAME': 'farm=shop',
  'file=PATH': 'file=activation.pem',
  '--config.file=VALUE': '--config.file=zlb.yml',
  '--config.file=$configuration': '--config.file=zlb.yml',
  '--web.config.file=PATH': '--web.config.file=web.yml',
  ...Object.fromEntries(
    ['--cert=FULLCHAIN', '--cert=fullchain.pem', '--cert=/etc/acme/full.pem'].map((flag) => [
      flag,
      '--cert=shop-2027.pem',
    ]),
  ),
  ...Object.fromEntries(
    ['--key=KEY', '--key=privkey.pem', '--key=/etc/acme/key.pem'].map((flag) => [flag, '--key=shop-2027.pem']),
  ),
};

/** Names of commands that need more words, as texts write them: their help is asked for. */
const incomplete = [
  'plugin',
  'fingerprint',
  'deliver',
  'deliver --',
  'admin VALUE',
  'admin parameters',
  'admin --json',
  'init',
];

/** Commands that may end with 1 although they are right: the simulated object decides. */
const unfinished = /^(?:admin lb-\w+ (?:install-activation|send-logs)|check|deliver|plugin)/;

/**
 * Runs every command that a text names, in one installation; resolves to those that do not work,
 * each with its texts and what it printed.
 */
export async function failuresOfNamed(installation: Installation, machine: Machine): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { from, words } of namedCommands()) {
    machine.reset();
    const typed = await filled(words, installation, machine);
    const { code, output } = isLasting(words)
      ? await startAndStop(typed, installation)
      : await run(typed, installation);
    const isRight =
      code === 0 || (code === 1 && unfinished.test(typed.join(' '))) || (words[0] === 'plugin' && code === 2);
    if (words.includes('freeze')) await run(['admin', 'unfreeze', '--reason=trying'], installation);
    if (!isRight) failures.push(`${from.join(', ')}: zlb-exporter ${typed.join(' ')}: ${code}\n${output.slice(-600)}`);
  }
  return failures;
}

/** Returns the words with everything that the text leaves open, and the agreement of a reader. */
async function filled(
  words: readonly string[],
  installation: Installation,
  { substitutions }: Machine,
): Promise<readonly string[]> {
  const [command = '', first = '', second = ''] = words;
  if (incomplete.includes(words.join(' '))) return [...words.filter((each) => each !== '--'), '--help'];
  const plain = words.map((word, index) => values[`${words[index - 1]} ${word}`] ?? values[word] ?? word);
  const here = plain.map((word) =>
    substitutions.reduce((text, { written, real }) => text.replaceAll(written, real), word.replaceAll("'", '')),
  );
  if (command === 'init') {
    const own = here.filter((word) => !word.startsWith('--'));
    return [
      ...own,
      '--name=lb-new',
      '--api-key-file=secrets/lb-paris',
      '--trust-first',
      `--config.file=new-${own.length}-${performance.now()}.yml`,
    ];
  }
  if (command === 'healthcheck') return [command, `--web.listen-address=:${portOf(installation.env)}`];
  if (command !== 'admin') return here;
  if (first === 'changes') return await withChange(here, second, installation);
  const isWord = /^(?:--|appliances|audit|frozen|operations|parameters|whoami)/.test(here[1] ?? '--');
  if (isWord || here.includes('--dry-run')) return here;
  const isFreeze = /^(?:freeze|unfreeze)$/.test(first);
  // A synopsis and a word in a sentence have none.
  const reason = isFreeze || words.includes('RECIPE') ? ['--reason=trying'] : [];
  return [...here, ...reason, ...(isFreeze || here.includes('--yes') ? [] : ['--yes'])];
}

function portOf(env: NodeJS.ProcessEnv): string {
  return new URL(env['ZLB_EXPORTER_URL'] ?? '').port;
}

/** Asks for a change of its own where one is decided, and names it instead of ID. */
async function withChange(
  words: readonly string[],
  decision: string,
  installation: Installation,
): Promise<readonly string[]> {
  if (!words.some((word) => ['ID', 'VALUE'].includes(word)) || decision === 'list') return words;
  const asked = await run(
    ['admin', 'lb-madrid', 'restart-farm', 'farm=payments', '--ask', '--reason=trying', '--json'],
    installation,
  );
  const [, id = ''] = /"id":\s*"(ch-[^"]+)"/.exec(asked.output) ?? [];
  const [, digest = ''] = /"digest":\s*"([^"]+)"/.exec(asked.output) ?? [];
  const named = words.map((word) => (['ID', 'VALUE'].includes(word) ? id : word));
  return decision === 'approve' ? [...named, '--yes', `--digest=${digest}`] : named;
}

/** Returns true for the exporter and the simulated appliances, which run until they are stopped. */
function isLasting([command = '', ...rest]: readonly string[]): boolean {
  return (
    (command.startsWith('--') && command !== '--version' && rest.length === 0) || ['demo', 'simulate'].includes(command)
  );
}

async function run(words: readonly string[], { program, cwd, env }: Installation): Promise<Ended> {
  const [file = '', ...before] = program;
  const child = spawn(file, [...before, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 90_000 });
  const { stdout, stderr } = collectOutput(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: stdout() + stderr() };
}

async function startAndStop(words: readonly string[], { program, cwd, env }: Installation): Promise<Ended> {
  const [file = '', ...before] = program;
  const address = words[0] === 'simulate' ? [] : ['--web.listen-address=127.0.0.1:0'];
  const own = words.filter((word) => !word.startsWith('--web.listen-address'));
  // Without the gateway, whose port and journal are those of the exporter that runs already.
  const alone = { ...env, ZLB_CONFIG_FILE: 'zlb.yml' };
  const child = spawn(file, [...before, ...own, ...address], {
    cwd,
    env: alone,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group, as at a terminal: npx passes no signal on.
    detached: true,
  });
  const { stdout, stderr } = collectOutput(child);
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  await until(
    () => stdout() + stderr(),
    (seen) => /"msg":"listening"|Stop with Ctrl-C/.test(seen) || child.exitCode !== null,
  );
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  const [code, signal] = await closed;
  // npx itself ends by the signal.
  return { code: signal === 'SIGTERM' ? 0 : code, output: stdout() + stderr() };
}
