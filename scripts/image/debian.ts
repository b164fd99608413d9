import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run-program.ts';

/** The packages of a release of Debian. */
export interface Debian {
  /**
   * Unpacks packages into a folder; what they depend on has to be named too, and none of their
   * scripts runs.
   */
  unpack(packages: readonly string[], folder: string): void;
}

/**
 * Opens a release at the mirror that this machine uses, without touching what this machine knows of
 * its own release.
 */
export function openDebian(release: string, folder: string): Debian {
  const parts = { lists: join(folder, 'lists'), cache: join(folder, 'cache'), none: join(folder, 'none') };
  for (const part of Object.values(parts)) mkdirSync(join(part, 'partial'), { recursive: true });
  const mirror = run('apt-get', [
    'indextargets',
    '--format=$(REPO_URI)',
    'Created-By: Packages',
    'Origin: Debian',
    'Label: Debian',
  ]).split('\n')[0];
  const files = {
    sources: join(folder, 'sources.list'),
    status: join(folder, 'status'),
    apt: join(folder, 'apt.conf'),
  };
  writeFileSync(
    files.sources,
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${release} main\n`,
  );
  writeFileSync(files.status, '');
  writeFileSync(
    files.apt,
    [
      `Dir::State "${folder}";`,
      `Dir::State::lists "${parts.lists}";`,
      `Dir::State::status "${files.status}";`,
      `Dir::Cache "${parts.cache}";`,
      `Dir::Etc::sourcelist "${files.sources}";`,
      `Dir::Etc::sourceparts "${parts.none}";`,
      'APT::Sandbox::User "root";',
      '',
    ].join('\n'),
  );
  const env = { APT_CONFIG: files.apt };
  run('apt-get', ['update', '-qq'], { env });

  return {
    unpack(packages, target) {
      const archives = mkdtempSync(join(folder, 'archives-'));
      mkdirSync(target, { recursive: true });
      run('apt-get', ['download', '-qq', ...packages], { env, cwd: archives });
      // base-files first: it lays the links from /bin and /lib that the others write through.
      const fetched = readdirSync(archives).toSorted(
        (one, other) => Number(other.startsWith('base-files_')) - Number(one.startsWith('base-files_')),
      );
      // tar and not dpkg: that would put a folder in the place of a link.
      for (const archive of fetched)
        run('sh', [
          '-ec',
          'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"',
          'sh',
          join(archives, archive),
          target,
        ]);
    },
  };
}
