import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import type { Change } from '../../src/admin/changes/change.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { byName, createWorld } from '../../simulator/world-creation.ts';
import { l4Backend, l4Farm } from '../../simulator/world-parts.ts';
import { givenFolder } from '../support/folder.ts';
import { startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { recordsOf } from '../support/journal-file.ts';
import { runExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

const kills = Number(process.env['KILLS'] ?? 20);
const apiKey = 'CanaryAdminKey456789';

async function givenAppliance() {
  const farms = Array.from({ length: kills }, (_, number) =>
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

it(
  `every change survives ${kills} kills with a known state: sent once, after its intent, and freezes hold`,
  async () => {
    const appliance = await givenAppliance();
    const folder = givenFolder();
    const alice = makeToken();
    const bob = makeToken();
    const journalFile = join(folder, 'audit', 'journal.db');
    const config = writeAdminConfig(folder, {
      appliance,
      names: ['lb-1'],
      apiKey,
      sha256: alice.sha256,
      journalFile,
      tokens: [{ name: 'bob', sha256: bob.sha256, role: 'admin', approver: true }],
    });
    const endings: string[] = [];
    let exporter = await startAdminExporter(config);

    const call = async (token: string, method: string, path: string, body?: object) => {
      const answer = await fetch(`${exporter.adminUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-reason': 'a kill' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as Change;
    };
    const freeze = async (method: string) =>
      (await call(alice.token, method, '/freeze')) as unknown as { readonly frozen?: boolean };
    const acknowledged = { freezes: 0, lifted: 0 };
    const approved = ({ id, digest }: Change) => call(bob.token, 'POST', `/changes/${id}/approve`, { digest });
    const newest = async (number: number): Promise<Change | undefined> => {
      const { changes } = (await call(bob.token, 'GET', '/changes')) as unknown as { changes: readonly Change[] };
      return changes.find(({ parameters }) => parameters.farmname === `farm-${number}`);
    };
    const arrived = (number: number) =>
      appliance.requests.filter(
        ({ path, status }) => path === `/farms/farm-${number}/backends/0/maintenance` && status === 200,
      ).length;

    for (let number = 0; number < kills; number += 1) {
      if (number % 5 === 4) {
        const freezing = freeze('PUT').catch(() => undefined);
        await wait(Math.random() * 60);
        await exporter.stop('SIGKILL');
        const isAcknowledged = (await freezing)?.frozen === true;
        exporter = await startAdminExporter(config);
        const { frozen } = await freeze('GET');
        if (isAcknowledged) acknowledged.freezes += 1;
        if (isAcknowledged && frozen !== true) acknowledged.lifted += 1;
        if (frozen) await freeze('DELETE');
        continue;
      }
      const asked = {
        appliance: 'lb-1',
        operation: 'setFarmBackendMaintenance',
        parameters: { farmname: `farm-${number}`, backend: '0' },
        body: { action: 'maintenance' },
        reason: 'killed in between',
      };
      // Nobody is there to answer it.
      const proposed = number % 2 === 0 ? await call(alice.token, 'POST', '/changes', asked) : undefined;
      expect(proposed?.state ?? 'pending').toBe('pending');
      const running = proposed
        ? approved(proposed)
        : call(alice.token, 'POST', '/changes', { ...asked, run: 'now', detach: true });
      const answered = running.catch(() => undefined);
      await wait(30 + Math.random() * 170);
      await exporter.stop('SIGKILL');
      await answered;
      exporter = await startAdminExporter(config);

      const found = await until(
        () => newest(number),
        (seen) => !['approved', 'executing'].includes(seen?.state ?? ''),
      );
      // One that was to run at once may have been killed while it was planned.
      const { state, outcome } = found ?? { state: 'pending', outcome: null };
      endings.push(state);
      // One that stays open counts against the limit of its principal.
      if (found?.state === 'pending') await call(alice.token, 'POST', `/changes/${found.id}/cancel`, {});
      expect(arrived(number), state).toBeLessThanOrEqual(1);
      if (state === 'done') expect(arrived(number)).toBe(1);
      if (state === 'failed' || state === 'pending') expect(arrived(number), outcome?.lines.join()).toBe(0);
    }

    expect(acknowledged.lifted, `of ${acknowledged.freezes} freezes`).toBe(0);
    expect(endings.filter((state) => !['pending', 'failed', 'uncertain', 'done'].includes(state))).toEqual([]);
    const records = await recordsOf(journalFile);
    const intents = records.filter(({ event }) => event === 'intent');
    expect(new Set(intents.map(({ path }) => path)).size).toBe(intents.length);
    const arrivals = appliance.requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
    expect(arrivals.filter((path) => !intents.some((intent) => intent.path === path))).toEqual([]);
    expect(await runExporter(['audit', 'verify', journalFile])).toMatchObject({ code: 0 });
  },
  20_000 * kills,
);
