import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditLine } from '../../src/audit/record.ts';
import { makeToken } from '../../src/commands/token.ts';
import { errorCode } from '../../src/lib/check.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { type AdminExporter, startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { runExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

const apiKey = 'CanaryAdminKey456789';

/** The disk of the audit of an exporter, which can be filled and freed. */
interface Disk {
  readonly folder: string;
  fill(exporter: AdminExporter): void;
  makeRoom(exporter: AdminExporter): void;
}

/** A file system of its own. */
function givenSmallDisk() {
  const folder = givenFolder();
  run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
  onTestFinished(() => run('umount', ['--lazy', folder]));
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      try {
        for (;;) appendFileSync(filler, Buffer.alloc(4_096));
      } catch (error) {
        if (errorCode(error) !== 'ENOSPC') throw error;
      }
    },
    makeRoom: () => rmSync(filler),
  };
}

/**
 * The exporter's files may not grow, but for the first part of one more line; it needs no rights to
 * be limited so.
 */
function givenLimitedFiles(): Disk {
  const folder = givenFolder();
  const limit = ({ pid }: AdminExporter, bytes: string) => run('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
  return {
    folder,
    fill: (exporter) => limit(exporter, String(sizeOf(auditFileIn(folder)) + 100)),
    makeRoom: (exporter) => limit(exporter, 'unlimited'),
  };
}

function run(program: string, words: readonly string[]): void {
  const { status, stderr } = spawnSync(program, words);
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${stderr.toString()}`);
}

function auditFileIn(folder: string): string {
  return join(folder, 'audit', 'audit.jsonl');
}

function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'zlb-disk-'));
  try {
    run('mount', ['-t', 'tmpfs', 'tmpfs', folder]);
    run('umount', [folder]);
    return true;
  } catch {
    console.warn('NOT RUN: the tests that need to mount a file system');
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An exporter that reads the farms every second, and whose audit lies on that disk. */
async function givenExporter({ folder }: Disk) {
  const appliance = await startSimulatedAppliance({ world: recordedWorld(), apiKey });
  onTestFinished(() => appliance.close());
  const { token, sha256 } = makeToken();
  const auditFile = auditFileIn(folder);
  const polls = { farms: '* * * * * *' };
  const exporter = await startAdminExporter(
    writeAdminConfig(givenFolder(), { appliance, names: ['lb'], apiKey, sha256, auditFile, polls }),
  );
  let writes = 0;

  async function call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Readonly<Record<string, string>>) {
    const answer = await request(`${exporter.adminUrl}/appliances/lb${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const json = (await answer.body.json()) as Readonly<Record<string, unknown>>;
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], json };
  }

  return {
    appliance,
    exporter,
    auditFile,
    call,
    write: () => call('POST', '/system/backup', { name: `made-${(writes += 1)}` }),
    metric: async (name: string) => valueOf(await (await fetch(`${exporter.metricsUrl}/metrics`)).text(), name),
  };
}

function made({ world }: SimulatedAppliance): readonly string[] {
  return [...world.backups.keys()].filter((name) => name.startsWith('made-'));
}

function polls({ requests }: SimulatedAppliance): number {
  return requests.filter(({ route }) => route === 'GET /stats/farms').length;
}

function audited(file: string): readonly AuditLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditLine);
}

const mountable = canMount();
const disks: readonly { readonly what: string; readonly there: boolean; readonly given: () => Disk }[] = [
  { what: 'a disk that is full', there: mountable, given: givenSmallDisk },
  { what: 'files that may not grow', there: isThere('prlimit'), given: givenLimitedFiles },
];

describe.each(disks)('with its audit on $what', ({ there, given }) => {
  it.skipIf(!there)('sends nothing that has to be recorded, goes on reading, and heals without a restart', async () => {
    const disk = given();
    const { appliance, exporter, auditFile, call, write, metric } = await givenExporter(disk);
    expect(await write()).toMatchObject({ status: 200 });

    disk.fill(exporter);
    // The last block may have room for a few lines yet.
    const lasting = [await write()];
    while (lasting.at(-1)?.status === 200) lasting.push(await write());
    const madeBefore = made(appliance);
    const refused = await Promise.all(Array.from({ length: 8 }, () => write()));
    const secret = await call('GET', '/system/logs');
    const unconfirmed = await call('DELETE', `/system/backup/${madeBefore[0]}`);
    const read = await call('GET', '/farms/webshop/status');
    const pollsBefore = polls(appliance);
    await until(
      () => polls(appliance),
      (now) => now > pollsBefore,
    );
    const failures = await metric('zlb_admin_audit_write_failures_total');
    const madeWhileFull = made(appliance);
    disk.makeRoom(exporter);
    const healed = await Promise.all(Array.from({ length: 8 }, () => write()));
    const { code, stdout } = await runExporter(['audit', 'verify', auditFile]);

    const unavailable = { status: 503, retryAfter: '30', json: { code: 'audit_unavailable' } };
    expect([lasting.at(-1), ...refused, secret]).toMatchObject(Array.from({ length: 10 }, () => unavailable));
    expect(madeBefore).toHaveLength(lasting.length);
    expect(madeWhileFull).toEqual(madeBefore);
    expect(appliance.requests.filter(({ path }) => path === '/system/logs')).toEqual([]);
    expect(unconfirmed).toMatchObject({ json: { code: 'confirmation_required' } });
    expect(read).toMatchObject({ status: 200, json: { params: { status: expect.any(String) } } });
    expect(failures).toBeGreaterThan(0);
    expect(await metric('zlb_up')).toBe(1);

    expect(healed).toMatchObject(Array.from({ length: 8 }, () => ({ status: 200 })));
    expect(stdout).toMatch(/ is whole: /);
    expect(code).toBe(0);
    const lines = audited(auditFile);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from(lines, (_, index) => index + 1));
    expect(lines.filter(({ event }) => event === 'intent')).toHaveLength(made(appliance).length);
    const messages = exporter.log().map(({ msg }) => msg);
    expect(messages.filter((message) => message === 'audit is written again')).toHaveLength(1);
    expect(await exporter.stop('SIGTERM')).toBe(0);
  });
});

describe.skipIf(!mountable)('with a disk that is full when it starts', () => {
  it('starts nevertheless, and begins its audit once there is room', async () => {
    const disk = givenSmallDisk();
    disk.fill();
    const { appliance, exporter, auditFile, call, write } = await givenExporter(disk);

    const read = await call('GET', '/farms');
    const refused = await write();
    disk.makeRoom();
    const healed = await write();
    const { code, stdout } = await runExporter(['audit', 'verify', auditFile]);

    expect(exporter.log().map(({ msg }) => msg)).toContain('audit cannot be written');
    expect(read).toMatchObject({ status: 200 });
    expect(refused).toMatchObject({ status: 503, json: { code: 'audit_unavailable' } });
    expect(healed).toMatchObject({ status: 200 });
    expect(made(appliance)).toEqual(['made-2']);
    expect(audited(auditFile).map(({ seq, event }) => ({ seq, event }))).toEqual([
      { seq: 1, event: 'intent' },
      { seq: 2, event: 'outcome' },
    ]);
    expect(stdout).toMatch(/ is whole: 2 lines in 1 file/);
    expect(code).toBe(0);
  });
});
