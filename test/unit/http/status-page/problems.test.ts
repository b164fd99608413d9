import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { applianceProblems } from '../../../../src/http/status-page/appliance-problems.ts';
import { compareProblems, type Problem } from '../../../../src/http/status-page/problem.ts';
import type { ApplianceStatus, FarmStatus } from '../../../../src/monitor/status.ts';
import {
  applianceStatus,
  backendStatus,
  certificateStatus,
  collectorStatus,
  dayMs,
  farmStatus,
  minuteMs,
  nowMs,
} from '../../../support/fleet-status.ts';

describe('what is wrong with an appliance', () => {
  it('is nothing while all is well', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it.each([
    ['down', 'critical ZlbFarmDown: Farm shop is down'],
    ['critical', 'critical ZlbFarmDown: Farm shop is critical'],
    ['needed_restart', 'warning ZlbFarmNeedsRestart: Farm shop waits for a restart'],
    ['problem', 'warning ZlbBackendDown: Some backends of farm shop are down'],
    ['unknown', 'warning ZlbFarmStatusUnknown: Nobody can tell how farm shop is'],
  ])('is a farm that is %s', (state, problem) => {
    expect(problemsOf({ farms: [farmStatus({ name: 'shop', state })] })).toEqual([problem]);
  });

  it('is not a farm in maintenance', () => {
    expect(problemsOf({ farms: [farmStatus({ name: 'shop', state: 'maintenance' })] })).toEqual([]);
  });

  it.each([
    ['up', 'up', 'up', 'down', ['warning ZlbBackendDown: Backend d of service front of farm shop is down']],
    ['up', 'up', 'down', 'down', ['warning ZlbFarmDegraded: 2 of 4 backends of service front of farm shop are down']],
    [
      'down',
      'down',
      'down',
      'maintenance',
      ['critical ZlbFarmNoBackends: No backend is up in service front of farm shop'],
    ],
    ['up', 'up', 'up', 'maintenance', []],
    ['unknown', 'unknown', 'unknown', 'unknown', []],
  ])('is a service whose backends are %s, %s, %s and %s', (one, two, three, four, problems) => {
    const states = { a: one, b: two, c: three, d: four };
    const backends = Object.entries(states).map(([backend, state]) => backendStatus({ backend, state }));

    expect(problemsOf({ farms: [farmStatus({ name: 'shop', backends })] })).toEqual(problems);
  });

  it('is told once where the state of the farm explains its backends', () => {
    const backends = [backendStatus({ backend: 'a', state: 'down' })];

    expect(problemsOf({ farms: [farmStatus({ name: 'shop', state: 'critical', backends })] })).toHaveLength(1);
  });

  it('names some of many backends and counts the others', () => {
    const backends = Array.from({ length: 60 }, (_, index) =>
      backendStatus({ backend: `10.0.0.${index}:80`, state: index < 20 ? 'down' : 'up', sinceMs: nowMs - index }),
    );

    const [problem] = applianceProblems(statusWith({ name: 'shop', backends }), nowMs);

    expect(problem).toMatchObject({
      title: '20 of 60 backends of service front of farm shop are down',
      meaning: '10.0.0.0:80, 10.0.0.1:80, 10.0.0.2:80, 10.0.0.3:80 and 16 more; 40 carry their load.',
      sinceMs: nowMs,
    });
  });

  it.each([
    [-1, ['shop'], ['critical ZlbCertificateExpired: Certificate a.pem has expired']],
    [-1, [], ['warning ZlbCertificateExpired: Certificate a.pem has expired']],
    [-1, undefined, ['critical ZlbCertificateExpired: Certificate a.pem has expired']],
    [3, ['shop'], ['critical ZlbCertificateExpiryImminent: Certificate a.pem expires in 3 d']],
    [3, [], ['warning ZlbCertificateExpiryImminent: Certificate a.pem expires in 3 d']],
    [13, ['shop'], ['warning ZlbCertificateExpirySoon: Certificate a.pem expires in 13 d']],
    [13, undefined, ['warning ZlbCertificateExpirySoon: Certificate a.pem expires in 13 d']],
    [13, [], []],
    [29, ['shop'], []],
  ])('is a certificate with %s days left that %j use', (days, usedBy, problems) => {
    const certificate = certificateStatus({ file: 'a.pem', usedBy, notAfterSeconds: (nowMs + days * dayMs) / 1_000 });

    expect(problemsOf({ certificates: [certificate] })).toEqual(problems);
  });

  it('is a certificate that cannot be read or does not load, and no signing request', () => {
    const certificates = [
      certificateStatus({ file: 'garbage.pem', isUnreadable: true, notAfterSeconds: undefined }),
      certificateStatus({ file: 'bad_key.pem', state: 'invalid' }),
      certificateStatus({ file: 'a.csr', kind: 'csr', notAfterSeconds: undefined }),
    ];

    expect(problemsOf({ certificates })).toEqual([
      'warning ZlbCertificateUnreadable: Certificate garbage.pem cannot be read',
      'warning ZlbCertificateInvalid: Certificate bad_key.pem does not load',
    ]);
  });

  it.each([
    ['temporal', 6, ['critical ZlbActivationExpiryImminent: The licence of lb-1 ends in 6 d']],
    ['temporal', 20, ['warning ZlbActivationExpirySoon: The licence of lb-1 ends in 20 d']],
    ['temporal', 31, []],
    ['permanent', 6, []],
    ['permanent', -2, ['warning ZlbSupportEnded: The support of lb-1 has ended']],
  ])('is a %s licence that ends in %s days', (kind, days, problems) => {
    const notAfterSeconds = (nowMs + days * dayMs) / 1_000;

    expect(problemsOf({ activation: { status: 'activated', kind, notAfterSeconds } })).toEqual(problems);
  });

  it('is its deactivation, and not the readings that it refuses for that', () => {
    const collectors = [failing('farms', 'unlicensed'), failing('backends', 'unlicensed')];

    expect(problemsOf({ deactivated: true, farms: undefined, collectors })).toEqual([
      'critical ZlbApplianceDeactivated: lb-1 is deactivated',
    ]);
  });

  it('is its silence, with the reason and since when, and not each reading that fails for it', () => {
    const collectors = [failing('farms', 'timeout', 3), failing('backends', 'breaker_open', 2)];

    const [problem, ...others] = applianceProblems(applianceStatus({ name: 'lb-1', up: false, collectors }), nowMs);

    expect(problem).toMatchObject({
      level: 'critical',
      title: 'lb-1 does not answer: no answer in time',
      sinceMs: nowMs - 3 * minuteMs,
      alert: 'ZlbApplianceUnreachable',
    });
    expect(others).toEqual([]);
  });

  it('is its silence before what it said last is too old', () => {
    const collectors = [failing('farms', 'timeout', 3), failing('backends', 'breaker_open', 2)];

    expect(problemsOf({ up: true, breaker: 'open', collectors })).toEqual([
      'warning ZlbApplianceUnreachable: lb-1 has stopped answering: no answer in time',
    ]);
  });

  it('is what does not fit into the limit of series, for nobody sees that anywhere', () => {
    expect(problemsOf({ seriesLeftOut: 1_200 })).toEqual(['warning ZlbSeriesLimitHit: Not all of lb-1 is shown']);
  });

  it('is a key that is refused, whether the appliance still counts as up or not', () => {
    const collectors = [failing('farms', 'unauthorized'), failing('backends', 'breaker_open')];

    for (const up of [true, false])
      expect(problemsOf({ up, collectors })).toEqual(['critical ZlbAuthRejected: lb-1 refuses the API key']);
  });

  it.each([
    [failing('vpn', 'forbidden'), 'warning ZlbPermissionMissing: The API key of lb-1 may not read vpn'],
    [failing('system', 'server_error'), 'warning ZlbCollectorErrors: The reading of system from lb-1 fails'],
    [
      { ...failing('system', 'malformed'), isStale: true },
      'warning ZlbCollectorStale: The reading of system from lb-1 fails',
    ],
    [
      { ...failing('farms', 'malformed'), isStale: true },
      'critical ZlbFarmsUnwatched: The reading of farms from lb-1 fails',
    ],
    [
      { ...failing('certificates', 'malformed'), isStale: true },
      'critical ZlbCertificatesUnwatched: The reading of certificates from lb-1 fails',
    ],
  ])('is a reading that fails: %j', (collector, problem) => {
    expect(problemsOf({ collectors: [collectorStatus({ name: 'appliance' }), collector] })).toEqual([problem]);
  });

  it('names alerts alone that there are, each with a runbook', () => {
    const folder = 'src/http/status-page';
    const sources = readdirSync(folder).filter((name) => name.endsWith('.ts'));
    const named = sources.flatMap(
      (name) => readFileSync(`${folder}/${name}`, 'utf8').match(/(?<=')Zlb\w+(?=')/g) ?? [],
    );
    const runbooks = readFileSync('docs/operations.md', 'utf8');

    expect(new Set(named).size).toBeGreaterThan(20);
    expect(named.filter((alert) => !runbooks.includes(`\n### ${alert}\n`))).toEqual([]);
  });
});

describe('the order of what is wrong', () => {
  it('is the worst first, of these the newest, then what was so before anybody looked, and last what is still to come', () => {
    const problem = (title: string, parts: Pick<Problem, 'level' | 'sinceMs'>): Problem => ({
      appliance: 'lb-1',
      title,
      meaning: '',
      alert: 'ZlbFarmDown',
      ...parts,
    });
    const problems = [
      problem('to come', { level: 'critical', sinceMs: undefined }),
      problem('newest, but small', { level: 'warning', sinceMs: nowMs }),
      problem('unseen', { level: 'critical', sinceMs: 'unseen' }),
      problem('old', { level: 'critical', sinceMs: nowMs - dayMs }),
      problem('new', { level: 'critical', sinceMs: nowMs - minuteMs }),
    ];

    const titles = problems.toSorted(compareProblems).map(({ title }) => title);

    expect(titles).toEqual(['new', 'old', 'unseen', 'to come', 'newest, but small']);
  });
});

function problemsOf(given: Partial<ApplianceStatus>): string[] {
  return applianceProblems(applianceStatus({ name: 'lb-1', ...given }), nowMs).map(
    ({ level, alert, title }) => `${level} ${alert}: ${title}`,
  );
}

function statusWith(farm: Partial<FarmStatus> & { readonly name: string }): ApplianceStatus {
  return applianceStatus({ name: 'lb-1', farms: [farmStatus(farm)] });
}

function failing(
  name: string,
  reason:
    | 'timeout'
    | 'unauthorized'
    | 'unlicensed'
    | 'forbidden'
    | 'server_error'
    | 'malformed'
    | 'gone'
    | 'breaker_open',
  minutes = 1,
) {
  return collectorStatus({ name, ok: false, failure: { reason, sinceMs: nowMs - minutes * minuteMs } });
}
