import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { startProgram } from '../../scripts/stack/program.ts';
import { freePort } from './free-port.ts';
import { givenFolder } from './folder.ts';
import { until } from './until.ts';

/** Calls a method of Zabbix' API; rejects with its own words. */
export type ZabbixApi = <Result>(method: string, parameters: object) => Promise<Result>;

/**
 * Debian's Zabbix server on a PostgreSQL of its own, and its API by PHP's own web server; all of it
 * ends with the test. Needs root, which becomes `postgres` for the database.
 */
export async function givenZabbix(): Promise<ZabbixApi> {
  const folder = givenFolder();
  chmodSync(folder, 0o777);
  await startDatabase(folder);
  await startServer(folder);
  const url = await startApi(folder);
  let auth: string | undefined;
  const call: ZabbixApi = async <Result>(method: string, parameters: object) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: parameters, ...(auth && { auth }) }),
    });
    const { result, error } = (await response.json()) as { readonly result: Result; readonly error?: object };
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
  // The user and the password of a new Zabbix.
  auth = await until(
    () => call<string>('user.login', { username: 'Admin', password: 'zabbix' }).catch(() => undefined),
    (token) => token !== undefined,
  );
  return call;
}

const postgresFolder = '/usr/lib/postgresql';

/** Returns the folder of PostgreSQL's programs. */
function postgresPrograms(): string {
  const newest = readdirSync(postgresFolder)
    .toSorted((one, other) => Number(one) - Number(other))
    .at(-1);
  return join(postgresFolder, newest ?? '', 'bin');
}

/** The tables of a new Zabbix that it needs; the others hold hundreds of templates. */
const neededTables = 'role|role_rule|users|usrgrp|users_groups|hstgrp|config|ids|dbversion|housekeeper';

/** Starts PostgreSQL in the folder, on a socket, with the tables of Zabbix. */
async function startDatabase(folder: string): Promise<void> {
  const programs = postgresPrograms();
  const data = join(folder, 'postgres');
  mkdirSync(data);
  run('chown', ['postgres', data]);
  const fresh = ['-D', data, '-A', 'trust', '--no-sync', '-E', 'UTF8'];
  run('runuser', ['-u', 'postgres', '--', join(programs, 'initdb'), ...fresh]);
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'fsync=off', 'full_page_writes=off'];
  const flags = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const postgres = await startProgram({
    name: 'PostgreSQL',
    command: 'runuser',
    args: ['-u', 'postgres', '--', join(programs, 'postgres'), ...flags],
    remedy: 'install postgresql',
  });
  onTestFinished(() => postgres.stop());
  const psql = ['-q', '-h', folder, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'];
  await until(
    () => spawnSync('psql', [...psql, '-d', 'postgres', '-c', 'CREATE DATABASE zabbix'], { encoding: 'utf8' }),
    ({ status }) => status === 0,
  );
  const shipped = (name: string): string =>
    gunzipSync(readFileSync(`/usr/share/zabbix-server-pgsql/${name}.sql.gz`)).toString();
  const rows = shipped('data').match(new RegExp(`^INSERT INTO (?:${neededTables}) .*$`, 'gm')) ?? [];
  run('psql', [...psql, '-d', 'zabbix', '--single-transaction'], `${shipped('schema')}\n${rows.join('\n')}\n`);
}

/** Starts the server; a changed configuration is in force after a second. */
async function startServer(folder: string): Promise<void> {
  const settings = {
    AllowRoot: 1,
    DBHost: folder,
    DBName: 'zabbix',
    DBUser: 'postgres',
    // Nobody sends it anything: it does not listen.
    StartTrappers: 0,
    LogType: 'console',
    PidFile: join(folder, 'server.pid'),
    SocketDir: folder,
    CacheUpdateFrequency: 1,
    StartPollers: 2,
    FpingLocation: '/bin/true',
  };
  const file = join(folder, 'zabbix_server.conf');
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const server = await startProgram({
    name: 'Zabbix',
    command: 'zabbix_server',
    args: ['-f', '-c', file],
    remedy: 'install zabbix-server-pgsql',
  });
  onTestFinished(() => server.stop());
  await until(
    () => server.lines().join('\n'),
    (log) => log.includes('server #0 started'),
  );
}

/** Starts the frontend from a copy of the configuration that Debian has in /etc. */
async function startApi(folder: string): Promise<string> {
  const pages = join(folder, 'frontend');
  cpSync('/usr/share/zabbix', pages, { recursive: true, verbatimSymlinks: true });
  const source = join(pages, 'include/classes/core/CConfigFile.php');
  const config = join(folder, 'zabbix.conf.php');
  const before = readFileSync(source, 'utf8');
  writeFileSync(source, before.replace(/(const CONFIG_FILE_PATH = )'.*'/, `$1'${config}'`));
  const noTls = "'ENCRYPTION' => false, 'KEY_FILE' => '', 'CERT_FILE' => '', 'CA_FILE' => '', 'VERIFY_HOST' => false";
  writeFileSync(
    config,
    `<?php
$DB = ['TYPE' => 'POSTGRESQL', 'SERVER' => '${folder}', 'PORT' => '0', 'DATABASE' => 'zabbix', 'USER' => 'postgres',
  'PASSWORD' => '', 'SCHEMA' => '', ${noTls}, 'CIPHER_LIST' => '', 'VAULT_URL' => '', 'VAULT_DB_PATH' => '',
  'VAULT_TOKEN' => '', 'DOUBLE_IEEE754' => true];
`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  const php = await startProgram({
    name: 'PHP',
    command: 'php',
    args: ['-d', 'date.timezone=UTC', '-d', 'max_execution_time=300', '-S', address, '-t', pages],
    remedy: 'install php-cli',
  });
  onTestFinished(() => php.stop());
  return `http://${address}/api_jsonrpc.php`;
}

function run(program: string, args: readonly string[], input = ''): void {
  const { status, stderr, error } = spawnSync(program, [...args], { input, encoding: 'utf8', cwd: '/' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
}
