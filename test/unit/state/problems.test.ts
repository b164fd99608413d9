import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { applianceProblems } from '../../../src/state/appliance-problems.ts';
import { compareProblems, levelsOf, type Problem } from '../../../src/state/problem.ts';
import type { ApplianceStatus, CertificateStatus, FarmStatus } from '../../../src/state/status.ts';
import { alertNames } from '../../support/shipped-rules.ts';
import {
  applianceStatus,
  backendStatus,
  certificateStatus,
  collectorStatus,
  dayMs,
  farmStatus,
  minuteMs,
  nowMs,
  unknownAppliance,
} from '../../support/fleet-status.ts';

type Status = Partial<ApplianceStatus>;
/** What is the case, and the problems that it is: `critical ZlbFarmDown, warning …`. */
type Scene = readonly [what: string, status: Status, problems: string];

const address = '192.0.2.22:5432';
const unreachable = {
  isReachable: false,
  connectSeconds: undefined,
  failure: 'refused',
  served: [],
  address,
  atMs: nowMs - 2 * minuteMs,
} as const;
const aDown = backendStatus({ backend: 'a', state: 'down' });
const silentTls = [{ serverName: '', failure: 'timeout', certificate: undefined, isInStore: undefined } as const];
const dated = { configuredAtMs: nowMs - 9 * minuteMs };
const l4 = { profile: 'l4xnat', vip: '192.0.2.22', vport: '5432' };
const lastKnownUse = { farms: ['shop'], readMs: nowMs - 40 * minuteMs };

const farms: readonly Scene[] = [
  ['a farm in maintenance', farm({ state: 'maintenance' }), ''],
  ['a farm that is down', farm({ state: 'down' }), 'critical ZlbFarmDown'],
  ['a farm that is critical', farm({ state: 'critical' }), 'critical ZlbFarmDown'],
  [
    'a critical farm with backends that are down',
    farm({ state: 'critical', backends: [aDown] }),
    'critical ZlbFarmDown',
  ],
  ['a critical farm with a silent proxy', farm({ state: 'critical', isSilent: true }), 'critical ZlbFarmDown'],
  ['a farm that is up, with a silent proxy', farm({ state: 'up', isSilent: true }), 'critical ZlbFarmDown'],
  [
    'a silent farm that answers clients',
    farm({ state: 'unknown', answersClients: true }),
    'unknown ZlbFarmStatusUnknown',
  ],
  ['a farm that is down, with a silent proxy', farm({ state: 'down', isSilent: true }), 'critical ZlbFarmDown'],
  ['a farm that waits for a restart', farm({ state: 'needed_restart' }), 'warning ZlbFarmNeedsRestart'],
  ['a farm without a state', farm({ state: 'unknown' }), 'warning ZlbFarmStatusUnknown'],
  ['a farm with a problem', farm({ state: 'problem' }), 'warning ZlbBackendDown'],
  [
    'a farm with a problem of backends that were not read',
    farm({ state: 'problem', backends: undefined }),
    'warning ZlbBackendDown, unknown ZlbCollectorStale',
  ],
  [
    'a farm with a problem of none of the backends that it lists',
    farm({ state: 'problem', backends: [backendStatus({ backend: 'a', state: 'up' })] }),
    'warning ZlbBackendDown',
  ],
  ['a farm whose backends are not known', farm({ backends: undefined }), 'unknown ZlbCollectorStale'],
  ['a datalink farm, which has none', farm({ backends: undefined, profile: 'datalink' }), ''],
  ['a farm without backends', farm({ backends: [] }), ''],
  [
    'three farms whose backends are read for the first time',
    {
      farms: ['a', 'b', 'c'].map((name) => farmStatus({ name, backends: undefined })),
      collectors: [collectorStatus({ name: 'backends', ok: undefined, lastSuccessMs: undefined })],
    },
    'unknown ZlbCollectorStale',
  ],
  ['a farm that cannot be reached', farm({ probe: unreachable }), 'critical ZlbFarmUnreachable'],
  ['a farm that cannot be reached, as it is down', farm({ probe: unreachable, state: 'down' }), 'critical ZlbFarmDown'],
  [
    'a farm that accepts connections and answers no handshake',
    farm({ probe: { ...unreachable, isReachable: true, connectSeconds: 0.01, failure: undefined, served: silentTls } }),
    'critical ZlbFarmUnreachable',
  ],
  ['an L4 farm that refuses', farm({ ...l4, probe: unreachable }), 'critical ZlbFarmUnreachable'],
  // It may be one for UDP.
  [
    'an L4 farm that refuses, and was never reached',
    farm({ ...l4, probe: { ...unreachable, isReachable: undefined } }),
    'unknown ZlbFarmUnreachable',
  ],
  [
    'an L4 farm that may not be probed',
    farm({ ...l4, probe: { ...unreachable, isReachable: undefined, failure: 'not_allowed' } }),
    '',
  ],
  ['an L4 farm that is down, and was not probed', farm({ ...l4, state: 'down' }), 'critical ZlbFarmDown'],
  [
    'an L4 farm that is down, and was never reached',
    farm({ ...l4, state: 'down', probe: { ...unreachable, isReachable: undefined } }),
    'critical ZlbFarmDown',
  ],
  ['an L4 farm that is down and refuses', farm({ ...l4, state: 'down', probe: unreachable }), 'critical ZlbFarmDown'],
  [
    'an L4 farm that is down, and a connection times out',
    farm({ ...l4, state: 'down', probe: { ...unreachable, failure: 'timeout' } }),
    'critical ZlbFarmDown',
  ],
  [
    'an L4 farm that is down, and a connection succeeds',
    farm({
      ...l4,
      state: 'down',
      probe: { ...unreachable, isReachable: true, connectSeconds: 0.01, failure: undefined },
    }),
    'critical ZlbFarmDown',
  ],
  [
    'farms of which none has a state',
    { farms: ['shop', 'db'].map((name) => farmStatus({ name, state: 'unknown' })) },
    'critical ZlbFarmsUnknown, warning ZlbFarmStatusUnknown, warning ZlbFarmStatusUnknown',
  ],
];

const services: readonly Scene[] = [
  ['one of four backends that is down', backends('up up up down'), 'warning ZlbBackendDown'],
  ['two of four backends that are down', backends('up up down down'), 'warning ZlbBackendDown'],
  ['a service without a backend that is up', backends('down down down maintenance'), 'critical ZlbFarmNoBackends'],
  ['a backend in maintenance', backends('up up up maintenance'), ''],
  ['20 of 60 backends that are down', backends('down '.repeat(20) + 'up '.repeat(40)), 'warning ZlbBackendDown'],
  ['backends without a state', backends('unknown unknown unknown unknown'), 'unknown ZlbCollectorStale'],
];

const requests: readonly Scene[] = [
  ['an objective of no farm', { objectives: ['shop', 'shopp'] }, 'warning ZlbObjectiveWithoutFarm'],
  ['an objective while no farm is known', { objectives: ['shopp'], farms: undefined }, ''],
  [
    'an objective of latency of a farm of zproxy',
    { objectives: ['shop'], latencyObjectives: ['shop'], ...farm({ proxy: 'zproxy' }) },
    'warning ZlbRequestLogSilent',
  ],
  [
    'an objective of latency of a farm of pound',
    { objectives: ['shop'], latencyObjectives: ['shop'], ...farm({ proxy: 'pound' }) },
    '',
  ],
  ['an objective of availability of a farm of zproxy', { objectives: ['shop'], ...farm({ proxy: 'zproxy' }) }, ''],
  [
    'a log without a request',
    { objectives: ['shop'], isRequestLogEmpty: true, ...farm({}) },
    'warning ZlbRequestLogSilent',
  ],
  ['a log without a request, and no objective', { objectives: [], isRequestLogEmpty: true, ...farm({}) }, ''],
  [
    'a log without a request, since the farm does not log',
    { objectives: ['shop'], isRequestLogEmpty: true, ...farm({ logs: false, ...dated }) },
    'warning ZlbRequestLogSilent',
  ],
  [
    'a farm that logs no requests',
    { objectives: [], ...farm({ logs: false, ...dated }) },
    'warning ZlbRequestLogSilent',
  ],
  ['a farm that logs requests', { objectives: [], ...farm({ logs: true }) }, ''],
  ['a farm that logs none to nobody', farm({ logs: false }), ''],
  ['a farm of which nobody says whether it logs', { objectives: [], ...farm({}) }, ''],
];

const certificates: readonly Scene[] = [
  ['a used one that has ended', certificate(-1, { usedBy: ['shop'] }), 'critical ZlbCertificateExpiryImminent'],
  ['an unused one that has ended', certificate(-1, { usedBy: [] }), 'warning ZlbUnusedCertificateExpiry'],
  ['one that has ended, used or not', certificate(-1, { usedBy: undefined }), 'warning ZlbUnusedCertificateExpiry'],
  ['a used one with 2 days left', certificate(2, { usedBy: ['shop'] }), 'critical ZlbCertificateExpiryImminent'],
  ['an unused one with 2 days left', certificate(2, { usedBy: [] }), 'warning ZlbUnusedCertificateExpiry'],
  ['one with 2 days left, used or not', certificate(2, { usedBy: undefined }), 'warning ZlbUnusedCertificateExpiry'],
  ['a used one with 13 days left', certificate(13, { usedBy: ['shop'] }), 'warning ZlbCertificateExpirySoon'],
  ['an unused one with 13 days left', certificate(13, { usedBy: [] }), ''],
  ['one with 13 days left, used or not', certificate(13, { usedBy: undefined }), 'unknown ZlbCertificateExpirySoon'],
  ['a used one with 29 days left', certificate(29, { usedBy: ['shop'] }), ''],
  ['one that was used and has ended', certificate(-1, { lastKnownUse }), 'critical ZlbCertificateExpiryImminent'],
  ['one that was used, with 2 days left', certificate(2, { lastKnownUse }), 'critical ZlbCertificateExpiryImminent'],
  ['one that was used, with 13 days left', certificate(13, { lastKnownUse }), 'warning ZlbCertificateExpirySoon'],
  ['one that was used, with 29 days left', certificate(29, { lastKnownUse }), ''],
  ['a used one that is not valid yet', certificate(366, { usedBy: ['shop'] }), 'critical ZlbCertificateExpiryImminent'],
  ['an unused one that is not valid yet', certificate(366, { usedBy: [] }), ''],
  ['one that is not valid yet, used or not', certificate(366, { usedBy: undefined }), ''],
  [
    'a certificate that cannot be read',
    { certificates: [certificateStatus({ file: 'garbage.pem', isUnreadable: true, notAfterSeconds: undefined })] },
    'warning ZlbCertificateInvalid',
  ],
  [
    'a certificate that does not load',
    { certificates: [certificateStatus({ file: 'bad_key.pem', state: 'invalid' })] },
    'warning ZlbCertificateInvalid',
  ],
  [
    'a signing request',
    { certificates: [certificateStatus({ file: 'a.csr', kind: 'csr', notAfterSeconds: undefined })] },
    '',
  ],
  [
    'a farm whose certificate has no file',
    farm({ certificates: ['gone.pem'], ...dated }),
    'warning ZlbCertificateInvalid',
  ],
  [
    'a farm whose certificate has no file, if the store was not read',
    { ...farm({ certificates: ['gone.pem'] }), certificates: undefined },
    '',
  ],
];

const served: readonly Scene[] = [
  ['the one of the store with 2 days left', serves({ isInStore: true, days: 2 }), ''],
  ['another one with 2 days left', serves({ isInStore: false, days: 2 }), 'critical ZlbCertificateExpiryImminent'],
  ['another one with 20 days left', serves({ isInStore: false, days: 20 }), 'warning ZlbServedCertificateDiffers'],
  ['one that has ended', serves({ days: -1 }), 'critical ZlbCertificateExpiryImminent'],
  ['one with 20 days left', serves({ days: 20 }), 'warning ZlbCertificateExpirySoon'],
  [
    'one without the name',
    serves({ isInStore: true, days: 20, coversName: false }),
    'warning ZlbServedCertificateWrongName',
  ],
  [
    'a chain with 2 days left',
    serves({ isInStore: true, days: 200, chainDays: 2 }),
    'warning ZlbCertificateExpirySoon',
  ],
  ['a chain that outlasts its certificate', serves({ isInStore: true, days: 20, chainDays: 300 }), ''],
];

const licences: readonly Scene[] = [
  ['an API certificate of a year with 20 days left', apiCertificate(365, 20), 'warning ZlbCertificateExpirySoon'],
  ['an API certificate of a year that has ended', apiCertificate(365, -1), 'warning ZlbCertificateExpirySoon'],
  ['an API certificate of a year with 29 days left', apiCertificate(365, 29), ''],
  ['an API certificate of 30 days with 10 days left', apiCertificate(30, 10), ''],
  ['a trial of a year with 2 days left', licence('temporal', 365, 2), 'critical ZlbActivationExpiryImminent'],
  ['a trial of a year with 20 days left', licence('temporal', 365, 20), 'warning ZlbActivationExpirySoon'],
  ['a trial of a year with 29 days left', licence('temporal', 365, 29), ''],
  ['a trial with a third of its life left', licence('temporal', 30, 10), ''],
  ['a permanent one with 2 days left', licence('permanent', 365, 2), ''],
  ['a permanent one whose support has ended', licence('permanent', 365, -2), 'warning ZlbActivationExpirySoon'],
  [
    'an appliance that is deactivated, and the readings that it refuses for that',
    {
      deactivated: true,
      farms: undefined,
      collectors: [failing('farms', 'unlicensed'), failing('backends', 'unlicensed')],
    },
    'warning ZlbApplianceDeactivated',
  ],
];

const readings: readonly Scene[] = [
  ['an appliance that is well', {}, ''],
  [
    'an appliance that does not answer, and each reading that fails for it',
    { up: false, collectors: [failing('farms', 'timeout', 3), failing('backends', 'breaker_open', 2)] },
    'warning ZlbApplianceUnreachable',
  ],
  ...(['timeout', 'tls', 'not_found'] as const).map(
    (reason): Scene => [
      `an appliance that was never read: ${reason}`,
      { up: false, collectors: [{ ...failing('farms', reason), lastSuccessMs: undefined }] },
      'warning ZlbApplianceUnreachable',
    ],
  ),
  [
    'an appliance without a connection, by its newest call',
    {
      up: false,
      failing: { reason: 'connect', sinceMs: nowMs - 2 * minuteMs },
      collectors: [failing('farms', 'unauthorized', 5)],
    },
    'warning ZlbApplianceUnreachable',
  ],
  [
    'an appliance that does not answer, while its farms are probed',
    {
      up: false,
      collectors: [
        { ...failing('farms', 'timeout'), lastSuccessMs: nowMs - 7 * minuteMs },
        collectorStatus({ name: 'vip', lastSuccessMs: nowMs }),
      ],
    },
    'warning ZlbApplianceUnreachable',
  ],
  ...[true, false].map(
    (up): Scene => [
      `a key that is refused by an appliance that counts as ${up ? 'up' : 'down'}`,
      { up, collectors: [failing('farms', 'unauthorized'), failing('backends', 'breaker_open')] },
      'warning ZlbApplianceUnreachable',
    ],
  ),
  ...(['forbidden', 'malformed', 'timeout'] as const).map(
    (reason): Scene => [
      `farms that cannot be read: ${reason}`,
      { farms: undefined, collectors: [failing('farms', reason), failing('vpn', 'forbidden')] },
      'critical ZlbFarmsUnknown, warning ZlbCollectorStale',
    ],
  ),
  [
    'farms that were not read yet',
    { farms: undefined, collectors: [collectorStatus({ name: 'farms', ok: undefined })] },
    '',
  ],
  ['a reading that the key may not make', reading(failing('vpn', 'forbidden')), 'warning ZlbCollectorStale'],
  ['a reading that fails', reading(failing('system', 'server_error')), 'warning ZlbCollectorStale'],
  [
    'a reading that is too old',
    reading({ ...failing('system', 'malformed'), isStale: true }),
    'warning ZlbCollectorStale',
  ],
  ['an unreadable value in a response', unreadable('status', 1), 'warning ZlbCollectorStale'],
  ['two rows without a readable name', unreadable('farmname', 2), 'warning ZlbCollectorStale'],
  [
    'an unreadable value of an appliance that does not answer',
    { ...unreadable('status', 1), up: false },
    'warning ZlbApplianceUnreachable',
  ],
  ['series above the limit, which nobody sees anywhere', { seriesLeftOut: 1_200 }, 'warning ZlbExporterFault'],
  [
    'an interface that was seen to go down, and one that was never up',
    {
      interfaces: [
        { name: 'eth0', state: 'down', sinceMs: nowMs },
        { name: 'eth1', state: 'down' },
      ],
    },
    'warning ZlbInterfaceDown',
  ],
];

const kinds = {
  farms,
  'backends of a service': services,
  'requests of farms': requests,
  certificates,
  'served certificates': served,
  licences,
  'readings of an appliance': readings,
};

describe.each(Object.entries(kinds))('the problems of %s', (_, scenes) => {
  it.each(scenes)('are correct for %s', (_what, status, problems) => {
    expect(problemsOf(status)).toBe(problems);
  });
});

it('the texts of all problems match test/golden/problems.txt, with their cases', async () => {
  const problems = Object.entries(kinds).flatMap(([kind, scenes]) =>
    scenes.flatMap(([what, status]) =>
      applianceProblems(applianceStatus({ name: 'lb-1', ...status }), nowMs).map(({ title, meaning }) => ({
        words: `${title}\n  ${meaning}`,
        scene: `${kind}: ${what}`,
      })),
    ),
  );
  const scenes = Map.groupBy(problems, ({ words }) => words);
  const text = [...scenes].map(([words, of]) => `${words}\n${of.map(({ scene }) => `  - ${scene}\n`).join('')}`);

  await expect(text.join('\n')).toMatchFileSnapshot('../../golden/problems.txt');
});

describe('a problem', () => {
  it('has the labels of its alert and the time of its newest fault when it concerns a service', () => {
    const given = Array.from({ length: 60 }, (_, index) =>
      backendStatus({ backend: `10.0.0.${index}:80`, state: index < 20 ? 'down' : 'up', sinceMs: nowMs - index }),
    );

    const [problem] = applianceProblems(applianceStatus({ name: 'lb-1', ...farm({ backends: given }) }), nowMs);

    expect(problem).toMatchObject({ labels: { farm: 'shop', service: 'front' }, sinceMs: nowMs });
  });

  it('has the time since the first failure when it concerns an unresponsive appliance', () => {
    const collectors = [failing('farms', 'timeout', 3), failing('backends', 'breaker_open', 2)];

    const [problem] = applianceProblems(applianceStatus({ name: 'lb-1', up: false, collectors }), nowMs);

    expect(problem?.sinceMs).toBe(nowMs - 3 * minuteMs);
  });

  it('is listed once for all names with one fault', () => {
    const probe = serving({ days: 20, isInStore: false });

    expect(problemsOf(farm({ probe: { ...probe, served: [...probe.served, ...probe.served] } }))).toBe(
      'warning ZlbServedCertificateDiffers',
    );
  });

  it('points to the L4 daemon when several L4 farms went down together, and to no other farm', () => {
    const wentDown = (name: string, ageMs: number | undefined, profile = 'l4xnat') =>
      farmStatus({ name, ...l4, profile, state: 'down', sinceMs: ageMs === undefined ? ageMs : nowMs - ageMs });
    const together = [wentDown('db', minuteMs), wentDown('dns', minuteMs)];
    const atFirst = [wentDown('db', undefined), wentDown('dns', undefined)];

    expect(farmsOfDaemon([...together, wentDown('alone', dayMs), wentDown('web', minuteMs, 'http')])).toEqual([
      'db',
      'dns',
    ]);
    expect(farmsOfDaemon(atFirst)).toEqual(['db', 'dns']);
    expect(farmsOfDaemon([...atFirst, farmStatus({ name: 'mail', profile: 'l4xnat' })])).toEqual([]);
  });

  it.each([398, 200, 100, 90, 64, 47, 45, 6.7])(
    'is not reported for a certificate of %s days with a third of its life left, but with less than a quarter',
    (lifeDays) => {
      const left = (days: number) => problemsOf(certificate(days, {}, lifeDays));

      expect(left(lifeDays / 3)).toBe('');
      expect(left(Math.min(28, 0.25 * lifeDays) - 0.001)).toBe('warning ZlbCertificateExpirySoon');
      expect(left(Math.min(3, 0.1 * lifeDays) - 0.001)).toBe('critical ZlbCertificateExpiryImminent');
    },
  );

  it('names an existing alert', () => {
    const named = ['src/state', 'src/pages/status'].flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .flatMap(({ name }) => readFileSync(`${folder}/${name}`, 'utf8').match(/(?<=')Zlb\w+(?=')/g) ?? []),
    );

    expect(new Set(named).size).toBeGreaterThan(15);
    expect(named.filter((alert) => !alertNames.includes(alert))).toEqual([]);
  });
});

it('the problems are ordered by severity, then newest first, then those of unknown age, then pending ones', () => {
  const problem = (title: string, parts: Pick<Problem, 'level' | 'sinceMs'>): Problem => ({
    about: 'farm',
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

it('an object has the worst level of its own problems, and its appliance that of all other problems', () => {
  const soon = nowMs / 1_000 + (2 * dayMs) / 1_000;
  const status = applianceStatus({
    name: 'lb-1',
    farms: [
      farmStatus({ name: 'shop', state: 'down' }),
      farmStatus({ name: 'db' }),
      farmStatus({ name: 'old', state: 'maintenance' }),
      farmStatus({ name: '__proto__', state: 'needed_restart' }),
    ],
    certificates: [
      certificateStatus({ file: 'shop.pem' }),
      certificateStatus({ file: 'due.pem', usedBy: ['db'], notBeforeSeconds: soon - 8_640_000, notAfterSeconds: soon }),
    ],
    collectors: [collectorStatus({ name: 'system', failure: { reason: 'timeout', sinceMs: nowMs } })],
  });

  expect(JSON.parse(JSON.stringify(levels(status)))).toEqual({
    appliance: 'warning',
    farms: Object.fromEntries([
      ['shop', 'critical'],
      ['db', 'well'],
      ['old', 'paused'],
      ['__proto__', 'warning'],
    ]),
    certificates: { 'shop.pem': 'well', 'due.pem': 'critical' },
  });
});

it('an unknown state has no level, and an appliance that was not read yet is unknown', () => {
  expect(levels(unknownAppliance({ name: 'lb-1' }))).toEqual({ appliance: 'unknown', farms: null, certificates: null });
});

function levels(status: ApplianceStatus) {
  return levelsOf(status, applianceProblems(status, nowMs));
}

function problemsOf(status: Status): string {
  const problems = applianceProblems(applianceStatus({ name: 'lb-1', ...status }), nowMs);
  return problems.map(({ level, alert }) => `${level} ${alert}`).join(', ');
}

/** The farms whose problem points to the daemon of L4 farms. */
function farmsOfDaemon(given: readonly FarmStatus[]): readonly (string | undefined)[] {
  return applianceProblems(applianceStatus({ name: 'lb-1', farms: given }), nowMs)
    .filter(({ meaning }) => meaning.includes('nftlb'))
    .map(({ labels }) => labels?.farm);
}

function farm(parts: Partial<FarmStatus>): Status {
  return { farms: [farmStatus({ name: 'shop', ...parts })] };
}

function backends(states: string): Status {
  return farm({
    backends: states
      .trim()
      .split(' ')
      .map((state, index) => backendStatus({ backend: `b${index}`, state })),
  });
}

/** A certificate with so many days left; its configurations were read nine minutes ago. */
function certificate(
  daysLeft: number,
  use: Partial<Pick<CertificateStatus, 'usedBy' | 'lastKnownUse'>>,
  lifeDays = 365,
): Status {
  const notAfterSeconds = (nowMs + daysLeft * dayMs) / 1_000;
  const dates = { notBeforeSeconds: notAfterSeconds - lifeDays * 86_400, notAfterSeconds };
  const users = 'lastKnownUse' in use ? { usedBy: undefined, ...use } : use;
  return {
    certificates: [certificateStatus({ file: 'a.pem', usersReadMs: nowMs - 9 * minuteMs, ...dates, ...users })],
  };
}

function licence(kind: string, lifeDays: number, daysLeft: number): Status {
  const notAfterSeconds = (nowMs + daysLeft * dayMs) / 1_000;
  return {
    activation: { status: 'activated', kind, notBeforeSeconds: notAfterSeconds - lifeDays * 86_400, notAfterSeconds },
  };
}

function apiCertificate(lifeDays: number, daysLeft: number): Status {
  const notAfterSeconds = (nowMs + daysLeft * dayMs) / 1_000;
  return { apiCertificate: { notBeforeSeconds: notAfterSeconds - lifeDays * 86_400, notAfterSeconds } };
}

function reading(collector: ReturnType<typeof collectorStatus>): Status {
  return { collectors: [collectorStatus({ name: 'appliance' }), collector] };
}

function unreadable(field: string, count: number): Status {
  const found = { endpoint: '/stats/farms', field, count, example: '{}' };
  return { collectors: [collectorStatus({ name: 'farms', unreadable: [found] })] };
}

interface Serving {
  readonly days: number;
  readonly chainDays?: number;
  readonly coversName?: boolean;
  readonly isInStore?: boolean;
}

function serves(given: Serving): Status {
  return farm({ probe: serving(given) });
}
/** A farm that serves a certificate of a year. */
function serving({ days, chainDays, coversName = true, isInStore }: Serving) {
  const certificate = {
    commonName: 'shop.test',
    issuer: 'Example CA',
    serial: '01',
    fingerprintSha256: 'ab'.repeat(32),
    notBeforeSeconds: (nowMs + (days - 365) * dayMs) / 1_000,
    notAfterSeconds: (nowMs + days * dayMs) / 1_000,
  };
  const intermediate = { ...certificate, notAfterSeconds: (nowMs + (chainDays ?? 0) * dayMs) / 1_000 };
  const intermediates = chainDays === undefined ? [] : [intermediate];
  const served = {
    serverName: 'shop.test',
    failure: undefined,
    isInStore,
    certificate: { ...certificate, coversName, intermediates },
  };
  return {
    isReachable: true,
    connectSeconds: 0.003,
    failure: undefined,
    served: [served],
    address,
    atMs: nowMs - minuteMs,
  };
}

function failing(
  name: string,
  reason:
    | 'timeout'
    | 'tls'
    | 'unauthorized'
    | 'unlicensed'
    | 'forbidden'
    | 'server_error'
    | 'malformed'
    | 'not_found'
    | 'gone'
    | 'breaker_open',
  minutes = 1,
) {
  return collectorStatus({ name, ok: false, failure: { reason, sinceMs: nowMs - minutes * minuteMs } });
}

it('a critical farm has no backend if its configuration says so, otherwise none of them is up', () => {
  const meaningOf = (more: Partial<FarmStatus>) =>
    applianceProblems(
      applianceStatus({ name: 'lb', farms: [farmStatus({ name: 'shop', state: 'critical', ...more })] }),
      nowMs,
    )[0]?.meaning;

  expect(meaningOf({ backends: [], ...dated })).toContain('it has no backend');
  // A proxy that hangs makes the appliance list none.
  expect(meaningOf({ backends: [] })).toContain('none of its backends is up');
});

it('the repair of a hung proxy is said to call the L4 daemon if the proxy is zproxy', () => {
  const shop = farmStatus({
    name: 'shop',
    state: 'unknown',
    isSilent: true,
    proxy: 'zproxy',
    askedMs: nowMs - 7 * minuteMs,
  });
  const db = farmStatus({ name: 'db', ...l4 });
  const meaningOf = (proxy: 'pound' | 'zproxy') =>
    applianceProblems(applianceStatus({ name: 'lb', farms: [{ ...shop, proxy }, db] }), nowMs)[0]?.meaning;

  expect(meaningOf('zproxy')).toBe(
    'It did not answer its appliance in time 7 min ago: connections may hang. A restart is the repair. It also calls the daemon of the L4 farms: look at db after it.',
  );
  expect(meaningOf('pound')).not.toContain('L4');
});

it('the next call to a hung proxy is stated, with its cost for the appliance', () => {
  const shop = farmStatus({ name: 'shop', state: 'unknown', isSilent: true, askedMs: nowMs - 3 * minuteMs });
  const meaningOf = (nextLookMs: number) =>
    applianceProblems(applianceStatus({ name: 'lb', farms: [{ ...shop, nextLookMs }] }), nowMs)[0]?.meaning;

  expect(meaningOf(nowMs + 5.5 * minuteMs)).toBe(
    'It did not answer its appliance in time 3 min ago: connections may hang. A restart is the repair. No call to it has ended, and each leaves a process on the appliance until the proxy ends: the next one is made in 5 min.',
  );
  expect(meaningOf(nowMs - minuteMs)).toContain('the next one is made in <1 min.');
});

it('readings that wait for a hung proxy are not a second problem', () => {
  const failing = collectorStatus({ name: 'backends', failure: { reason: 'timeout', sinceMs: nowMs } });
  const of = (isSilent: boolean) =>
    applianceProblems(
      applianceStatus({ name: 'lb', farms: [farmStatus({ name: 'shop', isSilent })], collectors: [failing] }),
      nowMs,
    ).map(({ alert }) => alert);

  expect(of(true)).toEqual(['ZlbFarmDown']);
  expect(of(false)).toEqual(['ZlbCollectorStale']);
});
