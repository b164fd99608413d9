import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../src/commands/parse-flags.ts';
import { imageStage, lastOf, readDockerfile } from '../support/dockerfile.ts';

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly description: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const dockerfile = readDockerfile();
const image = imageStage(dockerfile);
const instructions = dockerfile.stages.flatMap((stage) => stage.instructions);
const debianReleases: Readonly<Record<string, string>> = { trixie: 'debian13' };

/** The files that are copied from the build context, not from another stage. */
const sources = instructions
  .filter(({ word, flags }) => word === 'COPY' && flags['from'] === undefined)
  .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));

function readWords(word: string): readonly string[] {
  return JSON.parse(lastOf(image, word)) as readonly string[];
}

describe('the Dockerfile', () => {
  it('builds and runs with the Node.js of the tests, on one Debian release', () => {
    const node = `node:${manifest.devDependencies['node']}-trixie-slim`;
    const bases = dockerfile.stages.map(({ from }) => from);

    expect(bases).toEqual([node, node, '${BASE}']);
    const debian = debianReleases[/-(\w+)-slim$/.exec(node)?.[1] ?? ''];
    expect(dockerfile.globals).toEqual([`BASE=gcr.io/distroless/cc-${debian}:nonroot`]);
  });

  it('copies only existing paths, and its context holds nothing else', () => {
    const context = readFileSync('.dockerignore', 'utf8').trim().split('\n');

    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
    expect(context.toSorted()).toEqual(['**', ...sources.map((source) => `!${source}`)].toSorted());
  });

  it('fetches only packages of the lock file, and runs none of their scripts', () => {
    expect(instructions.filter(({ word }) => word === 'ADD')).toEqual([]);
    expect(instructions.filter(({ text }) => /https?:|curl|wget|apt-get/.test(text))).toEqual([]);
    const installs = instructions.filter(({ text }) => /\bnpm (?:ci|i|install)\b/.test(text));
    expect(installs.map(({ text }) => text)).toEqual(['npm ci --ignore-scripts']);
  });

  it('starts without a shell, as `npm start` does', () => {
    const main = `/app/${manifest.bin['zlb-exporter']}`;
    const youngGeneration = '--max-semi-space-size=2';

    expect(manifest.scripts['start']).toBe(`. scripts/before.sh; exec node ${youngGeneration} src/main.ts`);
    expect(readWords('ENTRYPOINT')).toEqual(['node', youngGeneration, main]);
    expect(parseFlags(readWords('CMD')).flags).toMatchObject({ 'config.file': '/etc/zlb-exporter/zlb.yml' });
    expect(lastOf(image, 'HEALTHCHECK')).toMatch(new RegExp(`^CMD \\["node", "${main}", "healthcheck"\\]$`));
    expect(lastOf(image, 'EXPOSE')).toBe('9444');
  });
});
