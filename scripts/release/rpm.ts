import { cpSync, globSync, readFileSync, renameSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { run } from '../run-program.ts';
import { type Facts, type PackageParts, writeFile } from './tree.ts';

/** The names that RPM gives to processors. */
const architectures: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/** Builds the RPM in a folder; returns its path. */
export function buildRpm({ tree, folder, facts }: PackageParts, target: string): string {
  const root = join(folder, 'rpm-tree');
  cpSync(tree, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  // The place that zsh of these distributions looks at.
  renameSync(join(root, 'usr/share/zsh/vendor-completions'), join(root, 'usr/share/zsh/site-functions'));
  const spec = join(folder, 'zlb-exporter.spec');
  writeFile(spec, specOf(resolve(root), facts));
  const processor = architectures[facts.target.arch] ?? facts.target.arch;
  run('rpmbuild', ['-bb', '--target', processor, '--define', `_topdir ${resolve(folder, 'rpm')}`, spec], {
    env: { SOURCE_DATE_EPOCH: String(Math.floor(facts.builtAt.getTime() / 1_000)) },
  });
  const [built = ''] = globSync(join(folder, 'rpm/RPMS/*/*.rpm'));
  const file = join(target, basename(built));
  cpSync(built, file);
  return file;
}

function specOf(tree: string, { version, license, homepage, description }: Facts): string {
  const script = (name: string): string => readFileSync(`deploy/packages/${name}.sh`, 'utf8');
  return `Name: zlb-exporter
Version: ${version.replace('-', '~')}
Release: 1
Summary: Prometheus exporter and admin gateway for load balancers
License: ${license}
URL: ${homepage}
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++, libgcc, shadow-utils
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w9.zstdio
%global use_source_date_epoch_as_buildtime 1

%description
${description}.

%install
cp -a ${tree}/. %{buildroot}/

%post
before=
if [ "$1" -gt 1 ]; then before=earlier; fi
${script('after-install')}
%preun
if [ "$1" -gt 0 ]; then exit 0; fi
${script('before-remove')}
%postun
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi

%files
%defattr(-,root,root,-)
/usr/bin/zlb-exporter
/usr/lib/zlb-exporter
/usr/lib/systemd/system/zlb-exporter*
/usr/share/bash-completion/completions/zlb-exporter
/usr/share/zsh/site-functions/_zlb-exporter
/usr/share/fish/vendor_completions.d/zlb-exporter.fish
/usr/share/man/man1/zlb-exporter.1.gz
%doc /usr/share/doc/zlb-exporter
%dir /etc/zlb-exporter
%config(noreplace) /etc/zlb-exporter/zlb.yml
%attr(600,root,root) %config(noreplace) /etc/zlb-exporter/environment
%dir /var/lib/zlb-exporter
`;
}
