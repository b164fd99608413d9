import { describe, expect, it } from 'vitest';
import { givenAlerting, healthyWorld, portalOf, setBackends } from '../support/given-alerting.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

describe.skipIf(!(isThere('prometheus') && isThere('prometheus-alertmanager')))(
  'the alerting path from the appliance to the person on call',
  () => {
    it('notifies a farm that goes down, and resolves it after its restart, not when the appliance is unreachable', async () => {
      const world = healthyWorld();
      const { appliance, alertmanager, prometheus, told, heard, admin } = await givenAlerting(world);
      // A farm is missed only once the rules have recorded that it ran, a scrape or two after its first sample.
      await until(
        () => prometheus.query('farm:zlb_farm_status:ran{farm="portal"}').catch(() => []),
        (seen) => seen.length === 1,
      );

      portalOf(world).running = false;
      await told('firing', 'ZlbFarmDown', { farm: 'portal', status: 'down' });
      const started = await admin('restart-farm', 'farm=portal');
      expect(started.code, started.stderr).toBe(0);
      await told('resolved', 'ZlbFarmDown', { status: 'down' });
      const paged = heard('ZlbFarmDown', { status: 'down' }).map(({ status, receiver }) => `${receiver} ${status}`);
      expect(paged, 'one page, one end').toEqual(['page-paris firing', 'page-paris resolved']);

      setBackends(world, 'down');
      const critical = await told('firing', 'ZlbFarmDown', { farm: 'portal', status: 'critical' });
      expect(critical.receiver).toBe('page-paris');

      appliance.fail('*', { kind: 'refuse' });
      await told('firing', 'ZlbApplianceUnreachable', { appliance: 'lb-paris' });
      await until(
        () => prometheus.query('zlb_farm_status'),
        (seen) => seen.length === 0,
      );
      const held = (await alertmanager.alerts()).find(({ labels }) => labels['status'] === 'critical');
      expect(held?.status.state, 'no ticket inhibits a page').toBe('active');
      expect(await prometheus.query('farm:zlb_farm_status:down')).toHaveLength(1);
      const words = heard('ZlbFarmDown', { status: 'critical' }).map(({ status }) => status);
      expect(words).not.toContain('resolved');

      setBackends(world, 'up');
      appliance.heal('*');
      await told('resolved', 'ZlbApplianceUnreachable');
      await told('resolved', 'ZlbFarmDown', { status: 'critical' });
    }, 240_000);
  },
);
