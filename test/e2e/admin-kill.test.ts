import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditLine } from '../../src/admin/journal/record.ts';
import { makeToken } from '../../src/commands/token.ts';
import { errorCode } from '../../src/lib/check.ts';
import { type SimulatedAppliance, startSimulatedAppliance } from '../../simulator/server.ts';
import { byName, createWorld } from '../../simulator/world-creation.ts';
import { l4Backend, l4Farm } from '../../simulator/world-parts.ts';
import { givenFolder } from '../support/folder.ts';
import { type AdminExporter, startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { recordsOf } from '../support/journal-file.ts';
import { runExporter } from '../support/process.ts';

const writeCount = 500;
const kills = 20;
const atATime = 8;
const apiKey = 'CanaryAdminKey456789';

/** Changes of one appliance run one by one, so each client uses its own name. */
const names = Array.from({ length: atATime }, (_, number) => `lb-${number}`);

/** A change that no other write makes, so that arrivals can be distinguished. */
interface Write {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly reason: string;
}

/**
 * By turns one without a guard, one whose body is streamed, and one whose guards ask the appliance
 * first.
 */
function createWrite(number: number): Write {
  const reason = `write ${number}`;
  const name = `made-${number}`;
  const json = { type: 'application/json', reason } as const;
  if (number % 3 === 0) return { method: 'POST', path: '/system/backup', body: JSON.stringify({ name }), ...json };
  if (number % 3 === 1)
    return { method: 'PUT', path: `/system/backup/sent-${number}`, type: 'application/gzip', body: archive, reason };
  const path = `/farms/farm-${number}/backends/0/maintenance`;
  return { method: 'PUT', path, body: JSON.stringify({ action: 'maintenance' }), ...json };
}

/** The simulated appliance looks at the first characters. */
const archive = `H4sI${'A'.repeat(2_000)}`;

async function givenAppliance(): Promise<SimulatedAppliance> {
  const farms = Array.from({ length: writeCount }, (_, number) =>
    l4Farm({
      name: `farm-${number}`,
      vip: '192.0.2.1',
      vport: String(number + 1),
      backends: [l4Backend(0, '198.51.100.1', 80), l4Backend(1, '198.51.100.2', 80)],
    }),
  );
  const appliance = await startSimulatedAppliance({ world: createWorld({ farms: byName(farms) }), apiKey });
  onTestFinished(() => appliance.close());
  return appliance;
}

/** The key of a write, as the journal's intent and as the appliance know it. */
function intentKeys(lines: readonly AuditLine[]): readonly string[] {
  return lines
    .filter(({ event }) => event === 'intent')
    .map(({ method, path, body }) =>
      method === 'POST' ? `POST ${(body as { readonly name: string }).name}` : `${method} ${path}`,
    );
}

function arrivedKeys({ requests, world }: SimulatedAppliance): readonly string[] {
  const puts = requests.filter(({ method }) => method === 'PUT').map(({ method, path }) => `${method} ${path}`);
  const made = [...world.backups.keys()].filter((name) => name.startsWith('made-'));
  return [...puts, ...made.map((name) => `POST ${name}`)];
}

/** Lehmer's generator: numbers from 0 up to 1. */
function createRandom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Exporters on one journal, one after the other, each killed while clients write. */
async function killWhileWriting(appliance: SimulatedAppliance, random: () => number) {
  const folder = givenFolder();
  const journalFile = join(folder, 'audit', 'journal.db');
  const { token, sha256 } = makeToken();
  const config = writeAdminConfig(folder, { appliance, names, apiKey, sha256, journalFile });
  const writes = Array.from({ length: writeCount }, (_, number) => createWrite(number)).values();
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const progress = new EventEmitter();
  const answered: { readonly id: string; readonly status: number; readonly text: string }[] = [];
  const cutOff: string[] = [];
  let exporter = startAdminExporter(config);

  async function send(name: string, write: Write): Promise<void> {
    const { path, method, type, reason, body } = write;
    const { adminUrl } = await exporter;
    const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'x-reason': reason };
    try {
      const url = `${adminUrl}/appliances/${name}${path}`;
      const answer = await request(url, { dispatcher: agent, method, headers, body });
      const text = await answer.body.text();
      answered.push({ id: String(answer.headers['x-request-id']), status: answer.statusCode, text });
    } catch (error) {
      // Nobody was there to send it to: the next one gets it.
      if (errorCode(error) === 'ECONNREFUSED') return await send(name, write);
      cutOff.push(errorCode(error));
    }
    progress.emit('settled');
  }

  async function killAndRestart(killed: AdminExporter): Promise<AdminExporter> {
    await killed.stop('SIGKILL');
    const { code, stdout, stderr } = await runExporter(['audit', 'verify', journalFile]);
    expect(code, stdout + stderr).toBe(0);
    const intended = intentKeys(await recordsOf(journalFile));
    expect(arrivedKeys(appliance).filter((key) => !intended.includes(key))).toEqual([]);
    return await startAdminExporter(config);
  }

  const clients = Promise.all(
    names.map(async (name) => {
      for (const write of writes) await send(name, write);
    }),
  );
  for (let number = 0; number < kills; number += 1) {
    const after = Math.ceil((number + random()) * (writeCount / kills));
    while (answered.length + cutOff.length < after) await Promise.race([once(progress, 'settled'), clients]);
    // Any moment, and not one at which something has just ended.
    await wait(random() * 10);
    exporter = killAndRestart(await exporter);
    await exporter;
  }
  await clients;
  const code = await (await exporter).stop('SIGTERM');
  return { journalFile, answered, cutOff, code };
}

describe('an exporter that is killed while it writes', () => {
  it('has the intent of all that reached the appliance on disk, and carries its journal on', async () => {
    const seed = Number(process.env.ZLB_TEST_SEED ?? Date.now());
    const appliance = await givenAppliance();

    const { journalFile, answered, cutOff, code } = await killWhileWriting(appliance, createRandom(seed));
    const verified = await runExporter(['audit', 'verify', journalFile]);

    const lines = await recordsOf(journalFile);
    const intended = intentKeys(lines);
    const arrived = arrivedKeys(appliance);
    console.log(
      `killed ${kills} times (seed ${seed}): ${writeCount} writes, ${intended.length} intents, ${arrived.length} reached ` +
        `the appliance, ${answered.length} were answered; ${lines.length} records`,
    );
    expect(verified.stdout).toMatch(/ is whole: /);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from(lines, (_, index) => index + 1));
    expect(arrived.filter((key) => !intended.includes(key))).toEqual([]);
    expect(new Set(arrived).size).toBe(arrived.length);
    const outcomes = new Set(lines.filter(({ event }) => event === 'outcome').map((line) => line.request));
    expect(answered.filter(({ id, status }) => status !== 200 || !outcomes.has(id))).toEqual([]);
    expect(arrived.length).toBeGreaterThanOrEqual(answered.length);
    expect(answered.length).toBeGreaterThan(kills);
    expect(cutOff.filter((error) => !/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(error))).toEqual([]);
    expect(answered.length + cutOff.length).toBe(writeCount);
    expect(code).toBe(0);
  });
});
