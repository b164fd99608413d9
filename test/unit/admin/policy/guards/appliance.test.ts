import { describe, expect, it } from 'vitest';
import { inspect, namesOf, refusal } from './given-inspection.ts';

describe('the name of a backup', () => {
  const listBackups = { params: [{ name: 'weekly-2026' }, { name: 'daily' }] };

  it.each(['deleteBackup', 'restoreBackup'] as const)(
    'blocks %s when it is only a prefix of another one',
    async (key) => {
      const { findings } = await inspect(key, { listBackups });

      expect(findings).toMatchObject([
        {
          guard: 'backup_name_prefix',
          severity: 'blocking',
          message:
            'There is no backup weekly, but there is weekly-2026, and the appliance looks backups up by the beginning of their names.',
        },
      ]);
    },
  );

  it.each(['daily', 'weekly-2026', 'monthly', 'weekly-2026-2', 'ail'])('is unambiguous when it is %s', async (name) => {
    expect(namesOf(await inspect('deleteBackup', { listBackups }, { params: { name } }))).toEqual([]);
  });

  it('causes a warning when it exists and is a prefix of another one', async () => {
    const both = { params: [{ name: 'weekly-2026' }, { name: 'weekly' }] };

    expect(namesOf(await inspect('deleteBackup', { listBackups: both }))).toEqual(['backup_name_prefix warning']);
  });
});

describe('an activation certificate', () => {
  const upload = (readSystemInfo: unknown) => inspect('uploadActivationCertificate', { readSystemInfo });

  it.each([
    ['the Community Edition', 'community', 'is the community edition'],
    ['an edition that is not known', 'premium', 'is the premium edition'],
    ['an appliance that does not say', null, 'does not say which edition it is'],
  ])('is refused for %s', async (_, edition, says) => {
    const { findings } = await upload({ params: { hostname: 'lb', edition } });

    expect(findings).toMatchObject([{ guard: 'stray_activation_file', severity: 'blocking' }]);
    expect(findings[0]?.message).toContain(says);
  });

  it('is refused for a release without an edition', async () => {
    expect(namesOf(await upload(refusal('not_found')))).toEqual(['stray_activation_file blocking']);
  });

  it.each([
    ['the Enterprise Edition', { params: { hostname: 'lb', edition: 'enterprise' } }],
    ['a deactivated appliance, which is one', refusal('unlicensed')],
  ])('is permitted for %s', async (_, info) => {
    expect(namesOf(await upload(info))).toEqual([]);
  });
});

it.each(['setHttpServer', 'removeGateway', 'removeIpv4Gateway', 'removeIpv6Gateway'] as const)(
  'the call %s can cut the management access, which is a warning without a read',
  async (key) => {
    const seen = await inspect(key, {});

    expect(namesOf(seen)).toEqual(['management_cut warning']);
    expect(seen.asked).toEqual([]);
  },
);
