import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { completionOf } from '../../src/commands/completion/completion.ts';
import { ruleFiles } from '../rule-files.ts';
import { run } from '../run-program.ts';
import { billFile, billOfMaterials, buildTime } from '../sbom.ts';
import { manPage } from './man-page.ts';

/** The processor that a package is for, and its Node.js. */
export interface Target {
  readonly arch: string;
  /** The folder of `bin/node` and of its licence. */
  readonly node: string;
  /** Takes the names of functions out of that Node.js. */
  readonly strip: string;
}

/** The words that all packages use about themselves. */
export interface Facts {
  readonly version: string;
  readonly description: string;
  readonly homepage: string;
  readonly license: string;
  readonly maintainer: string;
  readonly revision: string;
  readonly target: Target;
  /** The time of everything in the packages, so that they are the same when built again. */
  readonly builtAt: Date;
}

/** The parts that a package is made of. */
export interface PackageParts {
  /** Everything that is installed. */
  readonly tree: string;
  /** A folder to work in. */
  readonly folder: string;
  readonly facts: Facts;
}

type Manifest = Readonly<Record<'version' | 'description' | 'homepage' | 'license' | 'author', string>>;

export function readFacts(target: Target): Facts {
  const { ZLB_EXPORTER_REVISION: revision } = process.env;
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  return {
    version: manifest.version,
    description: manifest.description,
    homepage: manifest.homepage.replace(/#.*/, ''),
    license: manifest.license,
    maintainer: manifest.author,
    target,
    revision: revision ?? (spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() || 'unknown'),
    builtAt: buildTime(),
  };
}

/** The place of the program in an installed package. */
const program = '/usr/lib/zlb-exporter';

/** Lays everything that an installation brings into a folder, as it will be below `/`. */
export function layTree(root: string, facts: Facts): void {
  layProgram(join(root, program), facts.target);
  writeFile(join(root, 'usr/bin/zlb-exporter'), launcher(facts.revision));
  layUnits(join(root, 'usr/lib/systemd/system'), facts.revision);
  writeFile(join(root, 'etc/zlb-exporter/zlb.yml'), readFileSync('deploy/packages/zlb.yml', 'utf8'));
  writeFile(join(root, 'usr/share/bash-completion/completions/zlb-exporter'), completionOf.bash());
  writeFile(join(root, 'usr/share/zsh/vendor-completions/_zlb-exporter'), completionOf.zsh());
  writeFile(join(root, 'usr/share/fish/vendor_completions.d/zlb-exporter.fish'), completionOf.fish());
  writeFile(
    join(root, 'usr/share/man/man1/zlb-exporter.1.gz'),
    gzipSync(manPage(facts.version, facts.builtAt), { level: 9 }),
  );
  const documents = join(root, 'usr/share/doc/zlb-exporter');
  for (const name of ['alerts', 'dashboards']) writeLink(join(documents, name), `../../../lib/zlb-exporter/${name}`);
  layDocuments(documents, join(root, program), facts);
  cpSync('deploy/systemd/environment.example', join(root, 'etc/zlb-exporter/environment'));
  mkdirSync(join(root, 'var/lib/zlb-exporter'), { recursive: true });
  settle(root, ['usr/bin/zlb-exporter', 'usr/lib/zlb-exporter/bin/node'], facts.builtAt);
  // Read by systemd as root.
  chmodSync(join(root, 'etc/zlb-exporter/environment'), 0o600);
}

/** Returns the command, which starts the Node.js of the package. */
function launcher(revision: string): string {
  return [
    '#!/bin/sh',
    `ZLB_EXPORTER_REVISION=${revision} NODE_ENV=production exec ${program}/bin/node --max-semi-space-size=2 ${program}/dist/src/main.js "$@"`,
    '',
  ].join('\n');
}

/** Lays the service and its check into a folder, with the places and the user of the package. */
export function layUnits(folder: string, revision: string): void {
  const places = [
    [/^(Exec\w+=)\/usr\/bin\/node /gm, `$1${program}/bin/node `],
    [/\/opt\/zlb-exporter/g, program],
  ] as const;
  layUnit(folder, 'zlb-exporter.service', [
    ...places,
    [/^#.*\n/, ''],
    [/^Documentation=.*/m, 'Documentation=man:zlb-exporter(1) file:///usr/share/doc/zlb-exporter/README.md'],
    [/^Environment=NODE_ENV=production$/m, `$& ZLB_EXPORTER_REVISION=${revision}`],
    [/^(?:#.*\n)*DynamicUser=yes\nUser=.*$/m, 'User=zlb-exporter\nGroup=zlb-exporter'],
    [/^(?:#.*\n)*#LoadCredential=.*\n/m, ''],
  ]);
  layUnit(folder, 'zlb-exporter-check.service', places);
  // The check is the service with another command: it reads the same unit, and what is added to it.
  const links = join(folder, 'zlb-exporter-check.service.d');
  writeLink(join(links, '0-service.conf'), '../zlb-exporter.service');
  writeLink(join(links, 'zz-check.conf'), '../zlb-exporter-check.service');
  writeLink(join(folder, 'zlb-exporter-.service.d'), '/etc/systemd/system/zlb-exporter.service.d');
}

/** Lays a unit of deploy/systemd into a folder, with changes that must all apply. */
function layUnit(folder: string, name: string, changes: readonly (readonly [RegExp, string])[]): void {
  const file = join('deploy/systemd', name);
  const text = changes.reduce(
    (unit, [from, to]) => {
      const changed = unit.replace(from, to);
      if (changed === unit) throw new Error(`${file} has no ${from}`);
      return changed;
    },
    readFileSync(file, 'utf8'),
  );
  writeFile(join(folder, name), text);
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** Files of packages that Node.js never reads; their licences stay. */
const neverRead: readonly RegExp[] = [
  /(?<!licen[cs]e)\.(?:map|ts|mts|cts|md)$/i,
  /\/\./,
  // A web page that loads scripts of other sites.
  /node_modules\/pino\/index\.html$/,
  /node_modules\/(?:@[^/]+\/)?[^/]+\/(?:test|spec|docs|integration|benchmarks?|examples?)(?:\/|$)/,
  // Commands of packages.
  /node_modules\/(?:@[^/]+\/)?[^/]+\/(?:(?:bin|scripts)(?:\/|$)|(?:bin|cli)\.m?js$|[^/]+\.sh$)/,
];

/** Lays the program with its packages, rules, dashboards and Node.js into a folder. */
export function layProgram(folder: string, { node, strip }: Target): void {
  if (!existsSync('dist/src/main.js')) throw new Error('dist is not there: run npm run build first');
  for (const name of ['dist', 'package.json', 'dashboards']) cpSync(name, join(folder, name), { recursive: true });
  for (const name of [...ruleFiles, 'alertmanager.example.yml'])
    cpSync(join('alerts', name), join(folder, 'alerts', name));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  for (const [path, { dev }] of Object.entries(packages))
    if (path !== '' && !dev && existsSync(path))
      cpSync(path, join(folder, path), {
        recursive: true,
        filter: (file) => !neverRead.some((pattern) => pattern.test(file)),
      });
  // Nobody starts it by its name: the first line is for npm.
  const main = join(folder, 'dist/src/main.js');
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*\n/, ''));
  mkdirSync(join(folder, 'bin'));
  // Without the names of functions it is 18 MB smaller.
  run(strip, ['--strip-unneeded', '-o', join(folder, 'bin/node'), join(node, 'bin/node')]);
  cpSync(join(node, 'LICENSE'), join(folder, 'bin/LICENSE'));
}

/** The examples for other programs. By name: an administrator's own passwords lie beside them. */
const examples = [
  'alertmanager',
  'compose.yml',
  'compose.appliances.yml',
  'grafana',
  'helm',
  'icinga',
  'prometheus',
  'README.md',
  'zabbix',
];

/**
 * Lays the manuals and the examples into a folder that has the rules and dashboards; `program` is
 * the folder of {@link layProgram}.
 */
export function layDocuments(folder: string, program: string, { homepage, version, builtAt }: Facts): void {
  for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md']) cpSync(name, join(folder, name));
  const bill = billOfMaterials({ builtAt, node: join(program, 'bin/node') });
  writeFile(join(folder, billFile), `${JSON.stringify(bill, null, 2)}\n`);
  cpSync('docs', join(folder, 'docs'), { recursive: true, filter: (file) => !file.startsWith('docs/pictures') });
  for (const name of examples) cpSync(join('deploy', name), join(folder, 'deploy', name), { recursive: true });
  for (const file of globSync('**/*.md', { cwd: folder })) {
    const path = join(folder, file);
    const outside = `${homepage}/blob/v${version}/`;
    const linked = readFileSync(path, 'utf8').replaceAll(relativeLink, (all, before: string, link: string) => {
      const target = join(dirname(file), link);
      return existsSync(join(folder, target)) || !existsSync(target) ? all : `${before}${outside}${target}`;
    });
    writeFileSync(path, linked);
  }
}

/** A link to a file beside the document, up to its end or its heading. */
const relativeLink = /(\]\(|src(?:set)?=")(?![a-z]+:|\/)([^)#"\s]+)/g;

/** Makes a relative link; the folder above it need not be there. */
function writeLink(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Writes a file and the folders above it. */
export function writeFile(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/**
 * Makes everything readable by all, writable by its owner alone, and as old as the release; only
 * `programs` can be started.
 */
export function settle(folder: string, programs: readonly string[], builtAt: Date): void {
  const date = `--date=@${Math.floor(builtAt.getTime() / 1_000)}`;
  run('find', [folder, '-type', 'd', '-exec', 'chmod', '755', '{}', '+']);
  run('find', [folder, '-type', 'f', '-exec', 'chmod', '644', '{}', '+']);
  for (const program of programs) chmodSync(join(folder, program), 0o755);
  run('find', [folder, '-exec', 'touch', '--no-dereference', date, '{}', '+']);
}
