import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../scripts/stack/program.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { freePort } from '../../bench/free-port.ts';
import { givenFolder } from '../support/folder.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';
import { type Block, readDocuments, root } from './documents.ts';

const blocks = readDocuments()
  .flatMap((document) => document.blocks)
  .filter(({ notRunBecause }) => notRunBecause === undefined);
const code = blocks.filter(({ language }) => language === 'ts').map((block) => ({ ...block, ...named(block) }));
const data = blocks.filter(({ language }) => language === 'json');
/** It compiles the whole source, and starts it. */
const patienceMs = 120_000;

describe('the code of the documents', () => {
  it('names its file', () => {
    const nameless = code.filter(({ path }) => path === '').map(({ file, line }) => `${file}:${line}`);
    expect(nameless, 'a first line like "// src/collectors/farms.ts" is missing').toEqual([]);
  });

  it.each(code.filter(({ path }) => existsSync(join(root, path))))(
    '$file:$line is in $path as shown',
    ({ path, body }) => {
      expect(readFileSync(join(root, path), 'utf8').includes(body), `${path} no longer has this`).toBe(true);
    },
  );

  it('that is new can be added as in CONTRIBUTING.md, and is served', { timeout: patienceMs }, async () => {
    const tree = copyOfTheTree();
    for (const { path, body } of code) if (!existsSync(join(root, path))) writeFileSync(join(tree, path), `${body}\n`);
    edit(join(tree, 'src/collectors/registry.ts'), [
      ['import { interfaces }', "import { healthChecks } from './health-checks.ts';\nimport { interfaces }"],
      ['  farms,\n', '  farms,\n  healthChecks,\n'],
    ]);
    edit(join(tree, 'src/web/metrics-app.ts'), [
      ['import { plainText', "import { registerInventory } from './inventory.ts';\nimport { plainText"],
      ['  registerReload(app, reload);', '  registerReload(app, reload);\n  registerInventory(app, fleet);'],
    ]);

    const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', tree], { encoding: 'utf8' });
    expect(status, stdout).toBe(0);

    const url = await givenExporterOf(tree);
    const page = await until(
      () => textAt(`${url}/metrics`),
      (text) => seriesOf(text, 'zlb_health_check_farms').length > 0,
      patienceMs,
    );
    expect(valueOf(page, 'zlb_health_check_farms', { health_check: 'db-tcp' })).toBe(1);
    expect(await (await fetch(`${url}/api/inventory`)).json()).toEqual([
      { name: 'lb-madrid', labels: { site: 'madrid' } },
    ]);
  });
});

it('the JSON of the documents can be parsed', () => {
  const wrong = data.flatMap(({ file, line, text }) => {
    try {
      JSON.parse(text);
      return [];
    } catch (error) {
      return [`${file}:${line}: ${String(error)}`];
    }
  });
  expect(wrong).toEqual([]);
});

/** Returns the file that the first line names, and its content. */
function named({ text }: Block): { readonly path: string; readonly body: string } {
  const [, path = '', body = ''] = /^\/\/ (\S+\.ts)\n([^]*)$/.exec(text) ?? [];
  return { path, body };
}

/** The source with what is needed to compile and run it. */
function copyOfTheTree(): string {
  const tree = givenFolder();
  for (const folder of ['src', 'simulator']) cpSync(join(root, folder), join(tree, folder), { recursive: true });
  for (const file of ['package.json', 'tsconfig.json']) cpSync(join(root, file), join(tree, file));
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

function edit(file: string, replacements: readonly (readonly [string, string])[]): void {
  let text = readFileSync(file, 'utf8');
  for (const [before, after] of replacements) {
    expect(text, file).toContain(before);
    text = text.replace(before, after);
  }
  writeFileSync(file, text);
}

async function givenExporterOf(tree: string): Promise<string> {
  const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey: 'a-key' });
  onTestFinished(() => appliance.close());
  const watched = {
    name: 'lb-madrid',
    url: appliance.url,
    api_key: 'a-key',
    tls: { fingerprint_sha256: appliance.fingerprintSha256 },
    labels: { site: 'madrid' },
  };
  writeFileSync(join(tree, 'zlb.yml'), JSON.stringify({ appliances: [watched] }));
  const address = `127.0.0.1:${await freePort()}`;
  const exporter = await startProgram({
    name: 'the exporter',
    command: process.execPath,
    args: [join(tree, 'src/main.ts'), `--config.file=${join(tree, 'zlb.yml')}`, `--web.listen-address=${address}`],
    remedy: 'is Node.js still where it was?',
  });
  onTestFinished(() => exporter.stop());
  return `http://${address}`;
}

/** Empty while nobody listens. */
async function textAt(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text();
  } catch {
    return '';
  }
}
