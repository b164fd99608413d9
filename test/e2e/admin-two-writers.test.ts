import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditLine } from '../../src/audit/record.ts';
import { rotatedFiles } from '../../src/audit/file.ts';
import { verifyAudit } from '../../src/audit/verify.ts';
import { makeToken } from '../../src/commands/token.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import { byName, createWorld } from '../../simulator/world-creation.ts';
import { givenFolder } from '../support/folder.ts';
import { type AdminExporter, startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { canUnshare, inOwnNamespace } from '../support/programs.ts';
import { runExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

/** Each takes about two seconds; 20 are run by hand before a release. */
const rounds = Number(process.env.ZLB_TEST_ROUNDS ?? 6);
const apiKey = 'CanaryAdminKey456789';
const clientsOfEach = 4;
const names = Array.from({ length: clientsOfEach }, (_, number) => `lb-${number}`);

async function givenAppliance(): Promise<SimulatedAppliance> {
  const appliance = await startSimulatedAppliance({ world: createWorld({ farms: byName([]) }), apiKey });
  onTestFinished(() => appliance.close());
  return appliance;
}

/** The names of the backups that the audit has an intent for. */
async function intendedIn(auditFile: string): Promise<ReadonlySet<string>> {
  const rotated = (await rotatedFiles(auditFile)).map(({ path }) => path);
  const lines = [...rotated, auditFile]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line) as AuditLine);
  // A file that was put aside meanwhile was read neither under its old name nor under its new one.
  if ((await rotatedFiles(auditFile)).length !== rotated.length) return await intendedIn(auditFile);
  const intents = lines.filter(({ event }) => event === 'intent');
  return new Set(intents.map(({ body }) => (body as { readonly name: string }).name));
}

/** Makes backups through an exporter without a pause until it is stopped. */
function startClients(current: () => Promise<AdminExporter>, prefix: string, token: string) {
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const counts = { answered: 0, refused: 0, cutOff: 0 };
  const other: string[] = [];
  const over = new AbortController();
  onTestFinished(() => over.abort());

  async function write(appliance: string, name: string): Promise<void> {
    const { adminUrl } = await current();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-reason': name };
    const body = JSON.stringify({ name });
    try {
      const url = `${adminUrl}/appliances/${appliance}/system/backup`;
      const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode === 200) counts.answered += 1;
      else if (answer.statusCode === 503 && text.includes('Another exporter writes the audit')) counts.refused += 1;
      else other.push(`${answer.statusCode} ${text}`);
    } catch {
      counts.cutOff += 1;
    }
  }
  const done = Promise.all(
    names.map(async (appliance, client) => {
      for (let count = 0; !over.signal.aborted; count += 1) await write(appliance, `${prefix}-${client}-${count}`);
    }),
  );
  return {
    counts,
    other,
    async stop() {
      over.abort();
      await done;
    },
  };
}

describe.skipIf(!canUnshare())('two exporters on one audit, each in a PID namespace of its own', () => {
  it('never write both: no change without its intent, and the chain whole, however often one is killed', async () => {
    const appliance = await givenAppliance();
    const folder = givenFolder();
    const auditFile = join(folder, 'audit', 'audit.jsonl');
    const { token, sha256 } = makeToken();
    const config = writeAdminConfig(folder, { appliance, names, apiKey, sha256, auditFile, auditFileBytes: '64KiB' });
    const start = () => startAdminExporter(config, '127.0.0.1:0', inOwnNamespace);
    const exporters = [start(), start()];
    const clients = exporters.map((_, index) =>
      startClients(async () => (await exporters[index]) as AdminExporter, `made-${index}`, token),
    );
    const answered = () => clients.reduce((sum, { counts }) => sum + counts.answered, 0);

    for (let round = 0; round < rounds; round += 1) {
      const before = answered();
      await until(answered, (count) => count >= before + 20, 30_000);
      // Both by turns, so that one is killed that writes and one that waits for the audit.
      const index = round % 2;
      await (await exporters[index])?.stop('SIGKILL');
      exporters[index] = start();
      await exporters[index];

      const arrived = [...appliance.world.backups.keys()].filter((name) => name.startsWith('made-'));
      expect((await verifyAudit(auditFile)).faults).toEqual([]);
      const intended = await intendedIn(auditFile);
      expect(arrived.filter((name) => !intended.has(name))).toEqual([]);
    }
    await Promise.all(clients.map(async (each) => await each.stop()));
    const started = await Promise.all(exporters);
    const pages = await Promise.all(started.map(async ({ metricsUrl }) => await request(`${metricsUrl}/metrics`)));
    for (const { body } of pages) await body.dump();
    // `unshare` passes no other signal on.
    await Promise.all(started.map(async (exporter) => await exporter.stop('SIGKILL')));
    const verified = await runExporter(['audit', 'verify', auditFile]);

    const arrived = [...appliance.world.backups.keys()].filter((name) => name.startsWith('made-'));
    const counts = clients.map((each) => each.counts);
    console.log(`killed ${rounds} times: ${arrived.length} changes arrived; ${JSON.stringify(counts)}`);
    expect(verified.stdout).toMatch(/ is whole: /);
    expect(verified.code).toBe(0);
    const intended = await intendedIn(auditFile);
    expect(arrived.filter((name) => !intended.has(name))).toEqual([]);
    expect(clients.flatMap(({ other }) => other)).toEqual([]);
    expect(counts.every(({ refused }) => refused > 0)).toBe(true);
    expect(pages.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  }, 240_000);
});
