import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { startSimulatedAppliance } from '../../../simulator/server.ts';
import { givenFolder } from '../../support/folder.ts';
import { writeAdminConfig } from '../../support/admin-exporter.ts';
import { runExporter } from '../../support/process.ts';
import { feed } from '../../support/programs.ts';

const apiKey = 'CanaryAdminKey456789';

describe('the exporter as a process', () => {
  it.each([
    ['a named pipe', (path: string) => feed('mkfifo', [path], Buffer.alloc(0))],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('exits at its start, with the path and a remedy, when the file of the freeze is %s', async (kind, make) => {
    const folder = givenFolder();
    const appliance = await startSimulatedAppliance({ world: recordedWorld(), apiKey });
    onTestFinished(() => appliance.close());
    const auditFile = join(folder, 'audit.jsonl');
    const { sha256 } = makeToken();
    const config = writeAdminConfig(folder, { appliance, names: ['lb-1'], apiKey, sha256, auditFile });
    make(`${auditFile}.frozen`);

    const ended = await runExporter([`--config.file=${config}`, '--web.listen-address=127.0.0.1:0']);

    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(
      `zlb-exporter: cannot read whether changes are frozen: ${auditFile}.frozen is ${kind}, not a regular file; move it away and start the exporter again\n`,
    );
  });
});
