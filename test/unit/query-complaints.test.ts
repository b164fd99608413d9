import { beforeAll, describe, expect, it } from 'vitest';
import { type KnownSeries, knownSeries } from '../support/known-series.ts';
import { complaintsAbout } from '../support/query-complaints.ts';

describe('complaintsAbout', () => {
  let known: ReadonlyMap<string, KnownSeries>;
  beforeAll(async () => {
    known = await knownSeries();
  });

  it.each([
    'zlb_farm_status{status=~"down|critical"} == 1',
    'sum by (le) (rate(zlb_api_request_duration_seconds_bucket{instance="a"}[5m]))',
    'zlb_up unless on (appliance) ALERTS{alertstate="firing", farm="x"}',
    'count by (made) (label_replace(up, "made", "$1", "job", "(.*)"))',
    'zlb_appliance_info{site="paris"}',
    'file:zlb_certificate_remaining:ratio < 0.25',
    'rate(nodejs_gc_duration_seconds_sum{kind="major"}[5m]) + process_open_fds',
  ])('says nothing of %s', (expression) => {
    expect(complaintsAbout(expression, known)).toEqual([]);
  });

  it.each([
    ['zlb_farms_status', 'zlb_farms_status: no such metric'],
    ['{farm="x"}', 'a selector without a name: no such metric'],
    ['zlb_farm_status{state="up"}', 'zlb_farm_status has no label state'],
    ['zlb_farm_status{status=~"up|dwon"}', 'zlb_farm_status is never status="dwon"'],
    ['zlb_collector_errors_total{reason="401"}', 'zlb_collector_errors_total is never reason="401"'],
    ['ALERTS{alertstate="silenced"}', 'ALERTS is never alertstate="silenced"'],
    ['zlb_api_request_duration_seconds', 'zlb_api_request_duration_seconds: no such metric'],
    ['nodejs_active_handles_total', 'nodejs_active_handles_total: no such metric'],
    ['sum by (backend) (zlb_farm_status)', 'by (backend): no such label there'],
    ['zlb_up and on (farm) zlb_farm_status', 'on (farm): no such label there'],
  ])('of %s: %s', (expression, complaint) => {
    expect(complaintsAbout(expression, known)).toEqual([complaint]);
  });
});
