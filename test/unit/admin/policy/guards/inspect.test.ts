import { describe, expect, it } from 'vitest';
import { allGuards } from '../../../../../src/admin/policy/guards/inspect.ts';
import { endpoints } from '../../../../../src/appliance/api/table.ts';
import { inspect, refusal } from './given-inspection.ts';

const summary = { params: { lslb: [{ name: 'shop', profile: 'http' }] } };

describe('the guards of a call', () => {
  it('read nothing for an operation without guards', async () => {
    const seen = await inspect('createService', {}, { body: { id: 'x', action: 'start' } });

    expect(seen).toEqual({ findings: [], asked: [] });
  });

  it('share their reads', async () => {
    const { asked } = await inspect(
      'setServiceBackendMaintenance',
      {
        readFarmsSummary: summary,
        readFarmStatus: { params: { status: 'up' } },
        readService: { params: { id: 'front', backends: [{ id: 0 }] } },
        readFarmStats: { backends: [{ id: '0', service: 'front', status: 'down' }] },
      },
      { body: { action: 'maintenance' } },
    );

    expect(asked).toEqual(['readFarmsSummary', 'readFarmStatus shop', 'readService shop front', 'readFarmStats shop']);
  });

  it.each(['server_error', 'timeout', 'connect', 'forbidden', 'unauthorized', 'malformed', 'oversize'] as const)(
    'block when a read fails with %s, and say so',
    async (reason) => {
      const { findings } = await inspect('restoreBackup', { listBackups: refusal(reason) });

      expect(findings).toEqual([
        {
          guard: 'backup_name_prefix',
          severity: 'blocking',
          message: `It could not be checked whether the call is safe: GET /any: refused with ${reason}.`,
          remedy: 'Find out why the appliance does not answer that read, and try again.',
        },
      ]);
    },
  );

  it('send the call to a deactivated appliance, which refuses it as it refused the read', async () => {
    expect(await inspect('deleteBackup', { listBackups: refusal('unlicensed') })).toMatchObject({ findings: [] });
  });

  it('limit messages with appliance names to one line', async () => {
    const params = Array.from({ length: 100 }, (_, index) => ({ name: `weekly\u001b[2J${'x'.repeat(200)}${index}` }));

    const { findings } = await inspect('deleteBackup', { listBackups: { params } });

    expect(findings[0]?.message).toMatch(
      /^There is no backup weekly, but there is weekly \[2Jx+0, weekly \[2Jx+1, .*x$/,
    );
    expect(findings[0]?.message).toHaveLength(4_000);
  });

  it('do not hide internal errors', async () => {
    await expect(inspect('deleteBackup', { listBackups: new TypeError('a bug') })).rejects.toThrow('a bug');
  });
});

it('no plain read has a guard', () => {
  const reads = allGuards.flatMap(({ operations }) =>
    operations.filter((key) => ['read', 'secret'].includes(endpoints[key].risk)),
  );

  expect(reads).toEqual([]);
});
