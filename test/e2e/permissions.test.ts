import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { genSaltSync, hashSync } from 'bcryptjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { writeAdminConfig } from '../support/admin-exporter.ts';
import { collectOutput } from '../support/process.ts';
import { holdFile } from '../support/held-file.ts';
import { isThere } from '../support/programs.ts';
import { linesOf } from '../support/journal-file.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { recordedWithoutProbes } from '../support/simulated-farms.ts';
import { until } from '../support/until.ts';
import { makeToken } from '../../src/commands/token.ts';

const apiKey = 'canary-key-of-the-appliance';

/** The permissions that the unit of deploy/systemd gives, for the folders of this machine. */
function permissions(folder: string): readonly string[] {
  const unit = readFileSync('deploy/systemd/zlb-exporter.service', 'utf8');
  const given = unit.match(/(?<=[ =])--(?:permission|allow-[^\s"]+|disable-warning\S+)/g) ?? [];
  const places = new Map([
    ['/opt/zlb-exporter', process.cwd()],
    ['/etc/zlb-exporter', join(folder, 'etc')],
    ['/run/credentials/zlb-exporter.service', join(folder, 'credentials')],
    ['/var/lib/zlb-exporter', join(folder, 'state')],
  ]);
  const here = given.map((option) => {
    const [name = '', path] = option.split('=');
    return path === undefined ? option : `${name}=${places.get(path) ?? path}`;
  });
  // A clone may have its packages somewhere else.
  return [...here, `--allow-fs-read=${realpathSync('node_modules')}`];
}

function givenFolders(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zlb-permissions-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['etc', 'credentials', 'state', 'elsewhere']) mkdirSync(join(folder, name));
  return folder;
}

async function startUnderPermissions(folder: string, journalFile: string) {
  const appliance = await startSimulatedAppliance({ world: recordedWithoutProbes(), apiKey });
  onTestFinished(() => appliance.close());
  const { token, sha256 } = makeToken();
  const file = writeAdminConfig(join(folder, 'etc'), {
    appliance,
    names: ['lb-one'],
    apiKey,
    sha256,
    journalFile,
    polls: { farms: '*/1 * * * * *' },
  });
  const child = spawn(
    process.execPath,
    [...permissions(folder), 'src/main.ts', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = collectOutput(child);
  return { child, output, token, file };
}

describe('the exporter under the Node.js permissions of its unit', () => {
  it('polls, serves, and writes its journal', async () => {
    const folder = givenFolders();
    const audit = join(folder, 'state/journal.db');
    const { child, output, token } = await startUnderPermissions(folder, audit);
    const urlOf = (message: string): string | undefined =>
      output
        .stderr()
        .split('\n')
        .find((line) => line.includes(`"msg":"${message}"`))
        ?.match(/http:\/\/[\w.:]+/)?.[0];
    await until(
      () => output.stdout() + output.stderr(),
      () => urlOf('admin gateway listening') !== undefined || child.exitCode !== null,
    );

    const page = await until(
      async () => (await fetch(`${urlOf('listening')}/metrics`)).text(),
      (seen) => seen.includes('zlb_farm_status'),
    );
    const stopped = await fetch(`${urlOf('admin gateway listening')}/appliances/lb-one/farms/webshop/actions`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"action":"stop"}',
    });
    child.kill('SIGTERM');
    await until(
      () => child.exitCode,
      (code) => code !== null,
    );

    expect(valueOf(page, 'zlb_up', { appliance: 'lb-one' })).toBe(1);
    expect(seriesOf(page, 'process_open_fds')).toHaveLength(1);
    expect([200, 409, 412, 428]).toContain(stopped.status);
    expect((await linesOf(audit)).join('')).toContain('alice');
    expect(output.stderr()).not.toMatch(/ERR_ACCESS_DENIED|Warning/);
    expect(child.exitCode).toBe(0);
  });

  it.runIf(isThere('perl'))(
    'exits on SIGTERM while a file hangs, with a code that systemd counts as a success',
    async () => {
      const folder = givenFolders();
      const { child, output, file } = await startUnderPermissions(folder, join(folder, 'state/journal.db'));
      await until(output.stderr, (log) => log.includes('"msg":"admin gateway listening"'));
      const { awaited } = await holdFile(file);
      child.kill('SIGHUP');
      await awaited();

      child.kill('SIGTERM');
      await until(
        () => child.signalCode ?? child.exitCode,
        (end) => end !== null,
      );

      expect(child.signalCode).toBe('SIGTERM');
      expect(output.stderr()).toContain('"msg":"journal closed"');
      expect(output.stderr()).not.toContain('did not stop');
    },
  );

  it('compares passwords in a worker thread, and logs at the start when that is not permitted', () => {
    const folder = givenFolders();
    const webFile = join(folder, 'etc/web.yml');
    writeFileSync(webFile, `basic_auth_users: { prometheus: ${hashSync('secret', genSaltSync(4))} }\n`);
    const check = (flags: readonly string[]) =>
      spawnSync(process.execPath, [...flags, 'src/main.ts', 'check', `--web.config.file=${webFile}`], {
        encoding: 'utf8',
      });

    const refused = check(permissions(folder).filter((flag) => flag !== '--allow-worker'));

    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('web.yml:1:1: basic_auth_users: cannot be checked');
    expect(check(permissions(folder))).toMatchObject({
      status: 0,
      stdout: 'The web configuration is valid: plain HTTP, 1 user.\n',
    });
  });

  it('names the flag that lets it read a key in another folder', () => {
    const folder = givenFolders();
    const file = join(folder, 'etc/zlb.yml');
    writeFileSync(join(folder, 'elsewhere/key'), apiKey);
    writeFileSync(file, 'appliances: [{ name: a, url: https://127.0.0.1:1, api_key_file: ../elsewhere/key }]');
    const words = ['src/main.ts', 'check', `--config.file=${file}`];

    const { status, stderr } = spawnSync(process.execPath, [...permissions(folder), ...words], { encoding: 'utf8' });

    expect(status).toBe(2);
    expect(stderr).toMatch(
      /api_key_file: cannot be read: the permissions of Node\.js .* add --allow-fs-read=FOLDER to/,
    );
  });

  it('lets check exit with its code right after a look at the history file', () => {
    const folder = givenFolders();
    const file = join(folder, 'etc/zlb.yml');
    writeFileSync(file, `appliances: [{ name: a, url: https://127.0.0.1:1, api_key: ${apiKey} }]`);

    const { status, stdout } = spawnSync(
      process.execPath,
      [...permissions(folder), 'src/main.ts', 'check', `--config.file=${file}`],
      { encoding: 'utf8', env: { ...process.env, STATE_DIRECTORY: join(folder, 'state') } },
    );

    expect(status).toBe(1);
    expect(stdout).toContain('a  FAILED  ');
  });

  it.each([
    ['write beside the journal', "fs.writeFileSync(process.env.FOLDER + '/elsewhere/x', '')"],
    ['write over its own configuration', "fs.writeFileSync(process.env.FOLDER + '/etc/zlb.yml', '')"],
    ['read what is not its own', "fs.readFileSync('/etc/passwd')"],
    ['start a program', "require('child_process').execSync('true')"],
    ['load a native add-on', "process.dlopen({ exports: {} }, process.env.FOLDER + '/state/x.node')"],
  ])('cannot %s', (_, code) => {
    const folder = givenFolders();

    const { status, stderr } = spawnSync(
      process.execPath,
      [...permissions(folder), '--eval', `const fs = require('fs'); ${code}`],
      { env: { ...process.env, FOLDER: folder }, encoding: 'utf8' },
    );

    expect(status).toBe(1);
    expect(stderr).toMatch(/ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED/);
  });
});
