import { describe, expect, it } from 'vitest';
import { judgeAppliance } from '../../../../src/commands/plugin/check-appliance.ts';
import { judgeConnections, judgeFarms } from '../../../../src/commands/plugin/check-farms.ts';
import { judgeActivation, judgeCertificates } from '../../../../src/commands/plugin/check-validity.ts';
import type { SeenAppliance } from '../../../../src/commands/plugin/exporter-reply.ts';
import {
  type Thresholds,
  UnknownStateError,
  parseThresholds,
  summarize,
  type CheckResult,
} from '../../../../src/commands/plugin/check-result.ts';
import { applianceProblems } from '../../../../src/state/appliance-problems.ts';
import type { ApplianceStatus, BackendStatus } from '../../../../src/state/status.ts';
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

const noLimits = { warning: undefined, critical: undefined };
const collectors = ['farms', 'backends', 'certificates', 'activation'].map((name) => collectorStatus({ name }));

/** An appliance as the exporter sends it. */
function seen(given: Partial<ApplianceStatus>): SeenAppliance {
  const status = applianceStatus({ name: 'lb-1', collectors, ...given });
  const reply = JSON.stringify({ ...status, problems: applianceProblems(status, nowMs) });
  return { appliance: JSON.parse(reply) as SeenAppliance['appliance'], isDemonstration: false, nowMs };
}

/** The state, also where nothing is known. */
function stateOf(check: () => CheckResult): string {
  try {
    return summarize(check()).state;
  } catch (error) {
    if (error instanceof UnknownStateError) return `UNKNOWN: ${error.message}`;
    throw error;
  }
}

const backends = (...states: readonly string[]): readonly BackendStatus[] =>
  states.map((state, index) => backendStatus({ backend: `10.0.0.${index}:80`, state }));

const firstLine = (result: CheckResult): string => summarize(result).lines[0] ?? '';
const least = (warning: number, critical?: number) =>
  parseThresholds({ warning: `${warning}`, critical: critical === undefined ? undefined : `${critical}` }, 'at least');

it.each([
  ['up, all of its backends too', {}, 'OK'],
  ['stopped', { state: 'down', backends: undefined }, 'CRITICAL'],
  ['with one backend down', { backends: backends('up', 'up', 'up', 'down') }, 'WARNING'],
  ['with one backend of unknown state', { backends: backends('up', 'unknown') }, 'UNKNOWN'],
])('the farm check judges a farm that is %s', (_, farm, state) => {
  const farms = [farmStatus({ name: 'shop', ...farm })];

  expect(stateOf(() => judgeFarms(seen({ farms }), '*', noLimits))).toBe(state);
});

it('the farm check knows nothing of a percentage of backends that the exporter does not read', () => {
  const by = (state: string, limits: Thresholds = least(90)) => {
    const farms = [farmStatus({ name: 'shop', state, backends: undefined })];
    return stateOf(() => judgeFarms(seen({ collectors: [collectorStatus({ name: 'farms' })], farms }), '*', limits));
  };

  expect([by('up', noLimits), by('up'), by('down')]).toEqual(['OK', 'UNKNOWN', 'CRITICAL']);
});

it('the farm check takes the minimum percentage of backends from -w and -c', () => {
  const farms = [farmStatus({ name: 'shop', backends: backends('up', 'up', 'up', 'down') })];
  const by = (warning: number, critical: number) =>
    stateOf(() => judgeFarms(seen({ farms }), 'shop', least(warning, critical)));

  expect([by(75, 50), by(76, 75), by(100, 76)]).toEqual(['OK', 'WARNING', 'CRITICAL']);
});

it('the farm check judges each service by itself, and names farms in trouble', () => {
  const list = [...backends('up', 'up'), backendStatus({ backend: '10.0.0.9:80', service: 'api', state: 'down' })];
  const line = firstLine(
    judgeFarms(
      seen({ farms: [farmStatus({ name: 'blog' }), farmStatus({ name: 'shop', backends: list })] }),
      '*',
      noLimits,
    ),
  );

  expect(line).toBe(
    'CRITICAL - no backend is up in service api of farm shop: Its clients get errors. 10.0.0.9:80 is down | farms=2;;;0 backends=5;;;0 backends_up=4;;;0;5 least_up=0%;;;0;100',
  );
});

it('the farm check does not report a critical farm as one without backends if it has some', () => {
  const farms = [farmStatus({ name: 'shop', state: 'critical', backends: backends('down', 'down') })];

  expect(firstLine(judgeFarms(seen({ farms }), '*', noLimits))).toMatch(
    /^CRITICAL - farm shop is critical: It runs on .*, but none of its backends is up: .* \| farms=1;;;0 backends=2;;;0 backends_up=0;;;0;2 least_up=0%;;;0;100$/,
  );
});

it('the farm check finds farms by a pattern, and reports UNKNOWN if none matches', () => {
  const farms = [farmStatus({ name: 'shop-1' }), farmStatus({ name: 'blog', state: 'down' })];
  const by = (glob: string) => stateOf(() => judgeFarms(seen({ farms }), glob, noLimits));

  expect([by('shop*'), by('*'), by('wiki')]).toEqual(['OK', 'CRITICAL', 'UNKNOWN: lb-1 has no farm wiki']);
  expect(stateOf(() => judgeFarms(seen({ farms: [] }), '*', noLimits))).toBe('UNKNOWN: lb-1 has no farm *');
});

it('the farm check is not OK with a stale backend reading, and still reports a farm that is down', () => {
  const old = [
    collectorStatus({ name: 'farms' }),
    collectorStatus({ name: 'backends', lastSuccessMs: nowMs - 2 * minuteMs }),
  ];
  const by = (state: string) =>
    stateOf(() => judgeFarms(seen({ collectors: old, farms: [farmStatus({ name: 'shop', state })] }), '*', noLimits));

  expect([by('up'), by('down')]).toEqual(['UNKNOWN', 'CRITICAL']);
});

it.each([
  [5, 5, 'OK'],
  [5, 101, 'WARNING'],
  [1_000, 101, 'OK'],
  [undefined, 5, 'UNKNOWN'],
  [5, undefined, 'UNKNOWN'],
])(
  'the connection check judges %s established and %s pending ones as the alert does',
  (established, pending, state) => {
    const farms = [farmStatus({ name: 'shop', established, pending })];

    expect(stateOf(() => judgeConnections(seen({ farms }), '*', noLimits))).toBe(state);
  },
);

it('the connection check takes the maximum of established ones from -w and -c', () => {
  const farms = [farmStatus({ name: 'shop', established: 20, pending: 500 })];
  const by = (warning: number, critical: number) =>
    firstLine(
      judgeConnections(
        seen({ farms }),
        'shop',
        parseThresholds({ warning: `${warning}`, critical: `${critical}` }, 'at most'),
      ),
    );

  expect(by(20, 30)).toContain('OK - ');
  expect(by(19, 30)).toMatch(/^WARNING - .* \| established=20;19;30;0 pending=500;;;0$/);
  expect(by(10, 19)).toContain('CRITICAL - ');
});

it.each([
  [
    { established: undefined, pending: undefined },
    'UNKNOWN - the connections of farm shop are not known: its proxy does not answer the appliance, and a restart is the repair',
  ],
  [
    { established: 5, pending: 1 },
    'OK - 1 farm of lb-1: 5 established connections; the proxy of shop does not answer the appliance | established=5;;;0 pending=1;;;0',
  ],
  [
    { established: 5, pending: 101 },
    'WARNING - farm shop has 5 established and 101 pending connections: its proxy does not answer the appliance, and a restart is the repair | established=5;;;0 pending=101;;;0',
  ],
])('the connection check says for %j that the proxy of the farm hangs', (numbers, line) => {
  const farms = [farmStatus({ name: 'shop', isSilent: true, ...numbers })];

  expect(firstLine(judgeConnections(seen({ farms }), 'shop', noLimits))).toBe(line);
});

it('the connection check prints no performance data for an unknown number', () => {
  const farms = [
    farmStatus({ name: 'shop', established: 20, pending: 1 }),
    farmStatus({ name: 'blog', established: undefined }),
  ];

  expect(firstLine(judgeConnections(seen({ farms }), '*', noLimits))).not.toContain('|');
});

describe('the certificate check', () => {
  const ending = (leftDays: number, lifeDays: number) => ({
    notBeforeSeconds: (nowMs + (leftDays - lifeDays) * dayMs) / 1_000,
    notAfterSeconds: (nowMs + leftDays * dayMs) / 1_000,
  });
  const byAlerts = (given: object) =>
    stateOf(() =>
      judgeCertificates(seen({ certificates: [certificateStatus({ file: 'a.pem', ...given })] }), '*', noLimits),
    );

  it.each([
    ['far from its end', ending(200, 398), 'OK'],
    ['not renewed in time', ending(20, 398), 'WARNING'],
    ['about to end', ending(2, 398), 'CRITICAL'],
    ['ended, without a known beginning', { ...ending(-2, 398), notBeforeSeconds: undefined }, 'CRITICAL'],
    ['not renewed in time, of unknown use', { ...ending(20, 398), usedBy: undefined }, 'UNKNOWN'],
    ['unreadable', { isUnreadable: true, notAfterSeconds: undefined }, 'WARNING'],
  ])('judges one that is %s as the alerts do', (_, given, state) => {
    expect(byAlerts(given)).toBe(state);
  });

  it('takes days from -w and -c instead', () => {
    const certificates = [certificateStatus({ file: 'a.pem', ...ending(20, 47) })];
    const by = (warning: number, critical: number) =>
      firstLine(judgeCertificates(seen({ certificates }), '*', least(warning, critical)));

    expect(by(20, 3)).toMatch(/^OK - .* \| days_left=20;20:;3:$/);
    expect(by(21, 3)).toContain('WARNING - ');
    expect(by(30, 21)).toContain('CRITICAL - ');
  });

  it('says how old the reading is when no farm uses a certificate', () => {
    const read = { usedBy: [], usersReadMs: nowMs - 9 * minuteMs };
    const certificates = [certificateStatus({ file: 'a.pem', ...ending(20, 47), ...read })];

    expect(firstLine(judgeCertificates(seen({ certificates }), '*', least(30, 21)))).toContain(
      'no farm uses it (read 9 min ago)',
    );
  });

  it.each([
    ['by the alerts', -2, noLimits],
    ['by days', 20, least(40, 30)],
  ])('is critical %s when a certificate was last known to be in use', (_, days, limits) => {
    const lastKnownUse = { farms: ['shop'], readMs: nowMs - 40 * minuteMs };
    const certificates = [certificateStatus({ file: 'a.pem', ...ending(days, 398), usedBy: undefined, lastKnownUse })];

    expect(firstLine(judgeCertificates(seen({ certificates }), '*', limits))).toMatch(
      /^CRITICAL - .*was used by (?:farm )?shop 40 min ago/,
    );
  });

  it('reports an expiry from a stale reading, with its age', () => {
    const files = ['a.pem', 'b.pem', 'c.pem', 'd.pem', 'e.pem', 'f.pem'];
    const certificates = files.map((file) => certificateStatus({ file, ...ending(-2, 398) }));
    const old = [collectorStatus({ name: 'certificates', isStale: true, lastSuccessMs: nowMs - 40 * minuteMs })];
    const line = firstLine(judgeCertificates(seen({ certificates, collectors: old }), '*', noLimits));

    expect(line).toMatch(
      /^CRITICAL - lb-1: the last good reading of certificates is 40m old; certificate a\.pem has expired; .*; \d more/,
    );
  });

  it('ignores signing requests, and reports UNKNOWN for a missing file', () => {
    const certificates = [certificateStatus({ file: 'a.csr', kind: 'csr', notAfterSeconds: undefined })];
    const by = (glob: string) => stateOf(() => judgeCertificates(seen({ certificates }), glob, noLimits));

    expect([by('*'), by('a*')]).toEqual(['OK', 'UNKNOWN: lb-1 has no certificate a*']);
  });
});

describe('the activation check', () => {
  const endsIn = (days: number) => (nowMs + days * dayMs) / 1_000;

  it.each([
    [{ status: 'activated', kind: 'permanent', notAfterSeconds: endsIn(2) }, 'OK'],
    [{ status: 'activated', kind: 'permanent', notAfterSeconds: endsIn(-2) }, 'WARNING'],
    [{ status: 'activated', kind: 'temporal', notAfterSeconds: endsIn(20) }, 'WARNING'],
    [{ status: 'activated', kind: 'temporal', notAfterSeconds: endsIn(2) }, 'CRITICAL'],
    [{ status: 'activated', notAfterSeconds: endsIn(2) }, 'CRITICAL'],
    [{ status: 'deactivated' }, 'WARNING'],
    [{ status: 'not_applicable' }, 'OK'],
    [{ status: 'unknown' }, 'UNKNOWN: it is not known whether lb-1 is activated'],
    [{ status: 'activated' }, 'UNKNOWN: lb-1 is activated, but it is not known until when'],
  ])('judges %j', (activation, state) => {
    expect(stateOf(() => judgeActivation(seen({ activation }), noLimits))).toBe(state);
  });

  it.each([
    [{ kind: 'temporal', notAfterSeconds: endsIn(200) }, 'WARNING'],
    [{ kind: 'temporal', notAfterSeconds: endsIn(-1) }, 'CRITICAL'],
    [{ kind: 'permanent', notAfterSeconds: endsIn(200) }, 'OK'],
  ])('applies the days of -w only before the expiry, and not to the support: %j', (dates, state) => {
    const activation = { status: 'activated', ...dates };

    expect(stateOf(() => judgeActivation(seen({ activation }), least(300)))).toBe(state);
  });

  it('is a warning after a 402, whatever was read before', () => {
    expect(stateOf(() => judgeActivation(seen({ deactivated: true, collectors: [] }), noLimits))).toBe('WARNING');
  });
});

describe('the performance data of farms', () => {
  const listedBackends = [backendStatus({ backend: 'a', state: 'unknown' })];
  const stopped = [
    farmStatus({ name: 'old', state: 'down', backends: undefined }),
    farmStatus({ name: 'all', profile: 'l4xnat', state: 'down', backends: listedBackends }),
  ];

  it('counts the backends of running farms, and none that an appliance lists for stopped ones', () => {
    const { performanceData } = judgeFarms(seen({ farms: [farmStatus({ name: 'shop' }), ...stopped] }), '*', noLimits);

    expect(performanceData.find(({ label }) => label === 'backends')?.value).toBe(2);
  });

  it('omits a farm whose proxy hangs, instead of writing zero', () => {
    const hung = farmStatus({ name: 'shop', state: 'critical', isSilent: true, backends: [] });
    const { performanceData } = judgeFarms(seen({ farms: [hung] }), '*', noLimits);

    expect(performanceData.map(({ label }) => label)).toEqual(['farms']);
  });

  it('counts requests in progress with zproxy, which counts no connections', () => {
    const farms = [farmStatus({ name: 'shop', proxy: 'zproxy', established: 6, pending: 0 })];

    expect(firstLine(judgeConnections(seen({ farms }), '*', noLimits))).toContain('requests in progress');
  });
});

describe('the appliance check', () => {
  const failing = collectorStatus({ name: 'farms', failure: { reason: 'timeout', sinceMs: nowMs } });
  const forbidden = collectorStatus({ name: 'farms', failure: { reason: 'forbidden', sinceMs: nowMs } });
  const late = collectorStatus({ name: 'farms', lastSuccessMs: nowMs - 91_000 });
  const waiting = collectorStatus({ name: 'vpn', lastSuccessMs: undefined });
  const unsupported = collectorStatus({ name: 'vpn', isSupported: false, lastSuccessMs: undefined });

  it.each([
    ['responds', {}, 'OK'],
    ['has not responded yet', { up: undefined }, 'UNKNOWN: lb-1 has not answered since the exporter was started'],
    ['does not respond', { up: false }, 'WARNING'],
    ['may read no farm', { farms: undefined, collectors: [forbidden] }, 'CRITICAL'],
    ['is deactivated', { deactivated: true, farms: undefined }, 'WARNING'],
    ['is read too late', { collectors: [late] }, 'WARNING'],
    ['failed once', { collectors: [failing] }, 'OK'],
    ['was never read, with a failure', { collectors: [{ ...failing, lastSuccessMs: undefined }] }, 'WARNING'],
    ['was never read', { collectors: [waiting] }, 'UNKNOWN: nothing is read from lb-1 yet'],
    ['is read for the first time, in part', { collectors: [...collectors, waiting] }, 'OK'],
    ['does not support a collector', { collectors: [...collectors, unsupported] }, 'OK'],
  ] as const)('judges one that %s', (_, given, state) => {
    expect(stateOf(() => judgeAppliance(seen(given)))).toBe(state);
  });
});

describe('every check', () => {
  const checks = [
    (given: SeenAppliance) => judgeFarms(given, '*', noLimits),
    (given: SeenAppliance) => judgeConnections(given, '*', noLimits),
    (given: SeenAppliance) => judgeCertificates(given, '*', noLimits),
    (given: SeenAppliance) => judgeActivation(given, noLimits),
  ];

  it.each([
    ['old', collectors.map((each) => ({ ...each, lastSuccessMs: nowMs - 91_000 }))],
    ['stale', collectors.map((each) => ({ ...each, isStale: true }))],
    ['never made', collectors.map((each) => ({ ...each, lastSuccessMs: undefined }))],
    ['not supported', collectors.map((each) => ({ ...each, isSupported: false }))],
    ['not wanted', []],
  ])('reports UNKNOWN for a reading that is %s', (_, list) => {
    for (const check of checks) expect(stateOf(() => check(seen({ collectors: list })))).toMatch(/^UNKNOWN: /);
  });

  it('writes one line without a bar in its text, whatever an appliance names its objects', () => {
    const farms = [farmStatus({ name: 'a|b=1\nc', state: 'down' })];

    expect(firstLine(judgeFarms(seen({ farms }), '*', noLimits))).toMatch(
      /^CRITICAL - farm a\/b=1 c is down: [^|]* \| farms=1;;;0$/,
    );
  });

  it('names a warning before an unknown part, and is a warning', () => {
    const farms = [
      farmStatus({ name: 'odd', backends: backends('up', 'unknown') }),
      farmStatus({ name: 'shop', backends: backends('up', 'up', 'up', 'down') }),
    ];

    expect(firstLine(judgeFarms(seen({ farms }), '*', noLimits))).toMatch(/^WARNING - .*shop.*; .*odd/);
  });

  it('puts the worst into 160 characters on its first line, and everything below', () => {
    const down = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => farmStatus({ name, state: 'down' }));
    const farms = [farmStatus({ name: 'odd', state: 'unknown' }), ...down];

    const { lines } = summarize(judgeFarms(seen({ farms }), '*', noLimits));

    expect(lines[0]).toMatch(/^CRITICAL - farm a is down; .*farm h is down; 2 more \| farms=10/);
    expect(lines[0]?.split(' | ')[0]?.length).toBeLessThanOrEqual(160);
    expect(lines).toHaveLength(11);
    expect(lines[1]).toMatch(/^CRITICAL: farm a is down: ./);
    expect(lines[10]).toMatch(/ farm odd .*: ./);
  });

  it('handles tens of thousands of problems without delay', () => {
    const findings = Array.from({ length: 20_000 }, (_, index) => ({
      state: 'CRITICAL' as const,
      text: `farm ${'x'.repeat(150)}${index} is down`,
    }));
    const before = process.threadCpuUsage();

    const { lines } = summarize({ findings, okText: '', performanceData: [] });

    expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
    expect(lines[0]).toMatch(/^CRITICAL - farm x+; 19999 more$/);
  });

  it('truncates a longer first line, and repeats it in full below', () => {
    const name = 'x'.repeat(200);
    const { lines } = summarize(judgeFarms(seen({ farms: [farmStatus({ name, state: 'down' })] }), '*', noLimits));

    expect(lines[0]?.split(' | ')[0]).toHaveLength(160);
    expect(lines[1]).toContain(name);
  });

  it('lists with -v also what is in order, and how it was read', () => {
    const farms = [farmStatus({ name: 'shop', established: 5, pending: 1 })];

    const { lines } = summarize(judgeConnections(seen({ farms }), '*', noLimits), {
      isVerbose: true,
      asked: ['asked x'],
    });

    expect(lines.slice(1)).toEqual(['OK: farm shop has 5 established and 1 pending connections', 'asked x']);
  });
});

describe('the options -w and -c', () => {
  const farms = [farmStatus({ name: 'shop', established: 15, pending: 0 })];
  it.each([
    ['10:20', 'OK'],
    ['16:20', 'WARNING'],
    ['@10:20', 'WARNING'],
    ['@16:20', 'OK'],
    ['16:', 'WARNING'],
    ['~:20', 'OK'],
    ['14', 'WARNING'],
    ['15', 'OK'],
  ])('accept the range %s', (warning, state) => {
    const limits = parseThresholds({ warning }, 'at most');

    expect(stateOf(() => judgeConnections(seen({ farms }), 'shop', limits))).toBe(state);
    expect(firstLine(judgeConnections(seen({ farms }), 'shop', limits))).toContain(` | established=15;${warning};;0 `);
  });
});
