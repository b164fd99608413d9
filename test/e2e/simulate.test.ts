import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenFolder } from '../support/folder.ts';
import { runExporter, startExporter, type StartedProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

async function startSimulation(folder: string): Promise<StartedProcess> {
  const simulation = startExporter(['simulate', folder]);
  await until(simulation.stdout, (seen) => seen.includes('Stop with Ctrl-C.'));
  return simulation;
}

describe('simulate with a folder', () => {
  it('keeps addresses, key and certificate, so that a configuration is valid after a restart', async () => {
    const folder = join(givenFolder(), 'simulation');
    const first = await startSimulation(folder);
    const written = await readFile(join(folder, 'zlb.yml'), 'utf8');
    await first.stop('SIGTERM');

    const second = await startSimulation(folder);

    // Systems give an outgoing connection one of the ports above.
    expect([...written.matchAll(/127\.0\.0\.1:(\d+)/g)].filter(([, port]) => Number(port) >= 32_768)).toEqual([]);
    const [address = ''] = /127\.0\.0\.1:\d+/.exec(written) ?? [];
    const shown = await runExporter(['fingerprint', address]);
    expect(second.stdout()).toBe(first.stdout());
    expect(second.stdout()).toContain(`--config.file=${join(folder, 'zlb.yml')}`);
    expect(written).toContain(shown.stdout.trim());
    expect(await readFile(join(folder, 'zlb.yml'), 'utf8')).toBe(written);
    expect((await stat(join(folder, 'simulation.json'))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a port is taken', takePort, /port \d+ of lb-paris-1 is in use; /],
    [
      'its state is damaged',
      (folder: string) => writeFile(join(folder, 'simulation.json'), '{"ports":'),
      /is damaged: /,
    ],
  ])('exits with a remedy when %s', async (_case, spoil, message) => {
    const folder = join(givenFolder(), 'simulation');
    await (await startSimulation(folder)).stop('SIGTERM');
    await spoil(folder);

    const { code, stderr } = await runExporter(['simulate', folder]);

    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

/** Listens on the port that the first simulated appliance had. */
async function takePort(folder: string): Promise<void> {
  const { ports } = JSON.parse(await readFile(join(folder, 'simulation.json'), 'utf8')) as {
    ports: Record<string, number>;
  };
  const server = createServer().listen(ports['lb-paris-1'], '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}
