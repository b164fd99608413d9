import { describe, expect, it } from 'vitest';
import { createTeller, type NotifiedAlert } from '../../../scripts/stack/notifications.ts';

const at = new Date(2026, 0, 2, 3, 4, 5);

function farmDown(status: NotifiedAlert['status'], farm: string): NotifiedAlert {
  return {
    status,
    fingerprint: farm,
    labels: { alertname: 'ZlbFarmDegraded', severity: 'critical', appliance: 'lb-1', farm, job: 'zlb' },
    annotations: { description: `Farm ${farm} is down` },
  };
}

const delivery = (...alerts: readonly NotifiedAlert[]) => ({
  status: 'firing' as const,
  receiver: 'page',
  groupKey: '',
  alerts,
});

describe('the lines of notifications', () => {
  it('say when, how, how urgent, what, where, why and to whom', () => {
    const tell = createTeller('http://lb/console');

    expect(tell(delivery(farmDown('firing', 'shop')), at)).toEqual([
      '03:04:05 FIRING   critical ZlbFarmDegraded lb-1 shop: Farm shop is down (to page)',
    ]);
  });

  it('come once for each change, however often Alertmanager repeats the group', () => {
    const tell = createTeller('http://lb/console');
    tell(delivery(farmDown('firing', 'shop')), at);

    expect(tell(delivery(farmDown('firing', 'shop'), farmDown('firing', 'blog')), at)).toHaveLength(1);
    expect(tell(delivery(farmDown('resolved', 'shop'), farmDown('firing', 'blog')), at)).toEqual([
      '03:04:05 RESOLVED critical ZlbFarmDegraded lb-1 shop: Farm shop is down (to page)',
    ]);
    expect(tell(delivery(farmDown('firing', 'shop')), at)).toHaveLength(1);
  });

  it('link to the repair of an alert, while it fires', () => {
    const tell = createTeller('http://lb/console');
    const expires = (status: NotifiedAlert['status']) => ({
      ...farmDown(status, 'shop'),
      labels: { alertname: 'ZlbCertificateExpirySoon', severity: 'info', appliance: 'lb-1', file: 'a b\n.pem' },
      annotations: { description: 'x'.repeat(500) },
    });

    expect(tell(delivery(expires('firing')), at)).toEqual([
      expect.stringMatching(
        / Repair: http:\/\/lb\/console#alert=ZlbCertificateExpirySoon&appliance=lb-1&object=a\+b%0A\.pem$/,
      ),
    ]);
    expect(tell(delivery(expires('resolved')), at)).toEqual([expect.not.stringContaining('console')]);
  });

  it('cannot be broken by the characters of a name', () => {
    const tell = createTeller('http://lb/console');

    expect(tell(delivery(farmDown('firing', 'a\u001B[2J\nb')), at)).toEqual([
      '03:04:05 FIRING   critical ZlbFarmDegraded lb-1 a [2J b: Farm a [2J b is down (to page)',
    ]);
  });
});
