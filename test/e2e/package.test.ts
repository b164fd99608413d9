import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ruleFiles } from '../../scripts/rule-files.ts';
import { startMachine } from '../docs/machine.ts';
import { failuresOfNamed } from '../docs/try-commands.ts';
import { copyClone } from '../support/packages.ts';

const tooOld = /^zlb-exporter needs Node\.js \d+ or newer and was started with [\d.]+ \(\/.+\); install .+\n$/;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** This Node.js before all others, and nothing of this clone. */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_(?!COMPILE_CACHE$)|^INIT_CWD$/.test(name)),
  ),
  PATH: [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)]
    .filter((place) => !place.endsWith('node_modules/.bin'))
    .join(delimiter),
};

function run(cwd: string, program: string, ...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, env: environment, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

describe('the package', () => {
  let folder: string;
  let packed: Packed;
  /** A folder with nothing in it but the installed package. */
  let home: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zlb-package-'));
    const clone = join(folder, 'clone');
    copyClone(clone);
    const pack = run(clone, 'npm', 'pack', '--json', '--pack-destination', folder);
    const [first] = JSON.parse(/^\[\n[\s\S]*^\]/m.exec(pack.stdout)?.[0] ?? '[]') as Packed[];
    if (!first) throw new Error(`npm pack ended with ${pack.code}: ${pack.stdout}${pack.stderr}`);
    packed = first;
    home = join(folder, 'home');
    cpSync(join(folder, packed.filename), join(home, 'zlb-exporter.tgz'));
    // Nothing is fetched: what it needs is in it.
    const install = run(home, 'npm', 'install', '--offline', './zlb-exporter.tgz');
    if (install.code !== 0) throw new Error(`npm install: ${install.stdout}${install.stderr}`);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('contains the program, the rules, the boards and the documentation, but no build or test files', () => {
    const paths = packed.files.map(({ path }) => path);
    const own = paths.filter((path) => !path.startsWith('node_modules/'));

    for (const path of [
      'dist/src/main.js',
      'dist/src/pages/assets/runbooks.html',
      'dist/src/pages/console/index.html',
      'dist/src/pages/docs/index.html',
      ...ruleFiles.map((name) => `alerts/${name}`),
      'docs/configuration.schema.json',
      'README.md',
      'LICENSE',
    ])
      expect(own).toContain(path);
    expect(own.some((path) => path.startsWith('dashboards/'))).toBe(true);
    expect(own.filter((path) => /^(?:src|simulator|test|scripts|bench)\/|\.map$|^dist\/.*\.ts$/.test(path))).toEqual(
      [],
    );
    expect(paths.filter((path) => /^node_modules\/(?:typescript|vitest|node|playwright-core)\//.test(path))).toEqual(
      [],
    );
    expect(packed.size).toBeLessThan(16e6);
  });

  it('installs without downloads, and starts by its name', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

    const started = run(home, 'npx', '--offline', 'zlb-exporter', '--version');

    expect(started).toMatchObject({ code: 0, stdout: expect.stringContaining(`zlb-exporter ${version} `) as string });
    expect(run(home, 'npm', 'ls', '--all', '--offline').code).toBe(0);
  });

  it('runs with npx every command in an alert, message, help or document', {
    timeout: 1_200_000,
  }, async () => {
    const machine = await startMachine({ hasAlerts: false });
    onTestFinished(() => machine.close());
    // From the folder of the files, as a person would.
    cpSync(join(home, 'node_modules'), join(machine.folder, 'installed/node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    const program = ['npx', '--offline', '--prefix', join(machine.folder, 'installed'), 'zlb-exporter'];
    const env = { ...environment, ...machine.env, ZLB_CONFIG_FILE: 'running.yml', PATH: environment.PATH };

    expect(await failuresOfNamed({ program, cwd: machine.folder, env }, machine)).toEqual([]);
  });

  const older = ['/usr/bin/node', '/usr/local/bin/node'].find(
    (node) => Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? 99) < 24,
  );
  if (!older) console.warn('NOT RUN: the test that needs a Node.js older than 24 as /usr/bin/node');

  it.skipIf(!older)('says what it needs when an older Node.js starts it', () => {
    const started = run(home, older ?? '', 'node_modules/zlb-exporter/dist/src/main.js', '--help');

    expect(started).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(tooOld) as string });
  });

  it('demands the same Node.js version as its package.json', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'23.11.1'}})`;

    const started = run(home, process.execPath, '--import', pretend, 'node_modules/zlb-exporter/dist/src/main.js');

    expect(started).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(tooOld) as string });
    expect(engines.node).toBe(`>=${/Node\.js (\d+) or newer/.exec(started.stderr)?.[1]}`);
  });
});
