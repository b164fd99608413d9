import { readFileSync } from 'node:fs';
import { gitRevision } from '../../src/app/build-info.ts';

/** The words that all packages use about themselves. */
export interface Facts {
  readonly version: string;
  readonly description: string;
  readonly homepage: string;
  readonly license: string;
  readonly maintainer: string;
  readonly revision: string;
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

export function readFacts(env: Readonly<Record<string, string | undefined>>): Facts {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const [, mail = ''] = /<(\S+@\S+)>/.exec(readFileSync('SECURITY.md', 'utf8')) ?? [];
  return {
    version: manifest.version,
    description: manifest.description,
    homepage: manifest.homepage.replace(/#.*/, ''),
    license: manifest.license,
    maintainer: `${manifest.author} <${mail}>`,
    revision: env['ZLB_EXPORTER_REVISION'] ?? gitRevision('.') ?? 'unknown',
    builtAt: env['SOURCE_DATE_EPOCH'] ? new Date(Number(env['SOURCE_DATE_EPOCH']) * 1_000) : new Date(),
  };
}
