import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Debian packages that suites need, each by a program or a path that proves it is there. */
const packages = [
  { name: 'prometheus', program: 'promtool' },
  { name: 'prometheus-alertmanager', program: 'amtool' },
  { name: 'chromium', program: 'chromium' },
  // Programs in the commands of the documents.
  { name: 'curl', program: 'curl' },
  { name: 'jq', program: 'jq' },
  { name: 'openssl', program: 'openssl' },
  { name: 'shellcheck', program: 'shellcheck' },
  { name: 'runc', program: 'runc' },
  // An ACME authority and its clients.
  { name: 'pebble', program: 'pebble' },
  { name: 'certbot', program: 'certbot' },
  { name: 'lego', program: 'lego' },
  { name: 'dehydrated', program: 'dehydrated' },
  // Distribution packages: builders, their critic, and a clean system to install them in.
  { name: 'rpm', program: 'rpmbuild' },
  { name: 'binutils', program: 'strip' },
  { name: 'lintian', program: 'lintian' },
  { name: 'debootstrap', program: 'debootstrap' },
  { name: 'icinga2-bin', program: 'icinga2' },
  // A Zabbix with its database and its API.
  { name: 'zabbix-server-pgsql', program: 'zabbix_server' },
  { name: 'zabbix-frontend-php', program: '/usr/share/zabbix/api_jsonrpc.php' },
  { name: 'php-cli', program: 'php' },
  { name: 'postgresql', program: '/usr/lib/postgresql' },
] as const;

/**
 * Installs what is missing when this is root on Debian; otherwise says what will be skipped. With
 * CI set, missing is a failure.
 */
export default function setup(): void {
  if (Number(process.versions.node.split('.')[0]) < 24)
    throw new Error(
      `The tests need Node.js 24 or newer and found ${process.version}; install Node.js 24, or run ` +
        'npm ci --ignore-scripts=false, which brings it along',
    );
  const missing = packages.filter(({ program }) => !isThere(program));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    console.log(`Installing ${names.join(', ')} for the suites that need them …`);
    // The packages' services are not wanted, only their programs.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const still = missing.filter(({ program }) => !isThere(program)).map(({ name }) => name);
  if (still.length === 0) return;
  const message = `NOT RUN: the suites that need ${still.join(', ')}; install with: apt-get install ${still.join(' ')}`;
  if (process.env.CI) throw new Error(message);
  console.warn(message);
}

function isThere(program: string): boolean {
  return program.startsWith('/')
    ? existsSync(program)
    : spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
}
