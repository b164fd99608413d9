import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { listening } from '../../support/listening.ts';
import { collectOutput, runExporter } from '../../support/process.ts';
import { givenAdminCli } from './given-admin-cli.ts';

describe('the admin command as a process', () => {
  it('prints results to standard output and refusals to standard error, and never its token', async () => {
    const { url, tokenOf, file } = await givenAdminCli({ 'lb-1': busyWorld() });
    const token = tokenOf('admin');
    const env = { ZLB_ADMIN_URL: url, ZLB_ADMIN_TOKEN_FILE: await file('token', `${token}\n`) };

    const answered = await runExporter(['admin', 'lb-1', 'listFarms'], env);
    const refused = await runExporter(['admin', 'lb-1', 'deleteFarm', 'farmname=shop', '--confirm=other'], env);
    const unclear = await runExporter(['admin', 'lb-1', 'deleteFarm', 'farmname=shop'], env);
    const planned = await runExporter(['admin', 'lb-1', 'restart-farm', 'farm=shop', '--reason=x'], env);

    expect([answered.code, refused.code, unclear.code, planned.code]).toEqual([0, 1, 2, 2]);
    expect(answered.stdout).toMatch(/^farmname +profile/);
    expect(refused.stdout).toBe('');
    expect(refused.stderr).toMatch(/^zlb-exporter: /);
    expect(unclear.stderr).toMatch(/^Nothing was done: .*; repeat it with --confirm=shop --yes\.\n$/);
    expect(planned.stdout).toContain('\nPlan\n');
    for (const { stdout, stderr } of [answered, refused, unclear, planned])
      expect(stdout + stderr).not.toContain(token);
  });

  it('flushes its whole output before it exits', async () => {
    const rows = JSON.stringify({ params: Array.from({ length: 9_000 }, (_, id) => ({ id, note: 'x'.repeat(100) })) });
    const server = createServer((_request, response) => response.writeHead(200, { 'x-request-id': 'r-1' }).end(rows));
    const port = await listening(server);

    const { code, stdout } = await runExporter(['admin', 'lb-1', 'listFarms'], {
      ZLB_ADMIN_URL: `http://127.0.0.1:${port}`,
      ZLB_ADMIN_TOKEN: 'token',
    });

    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(9_001);
  });

  it('exits with 0 when the reader closes the pipe early', async () => {
    const child = spawn(process.execPath, ['src/main.ts', 'admin', 'operations'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stderr } = collectOutput(child);
    child.stdout.destroy();

    const [code] = (await once(child, 'close')) as [number | null];

    expect({ code, stderr: stderr() }).toEqual({ code: 0, stderr: '' });
  });
});
