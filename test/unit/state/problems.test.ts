import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { applianceProblems } from '../../../src/state/appliance-problems.ts';
import { compareProblems, type Problem } from '../../../src/state/problem.ts';
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
} from '../../support/fleet-status.ts';

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

describe('what is wrong with an appliance', () => {
  it('is nothing while all is well', () => {
    expect(problemsOf({})).toEqual([]);
  });

  it.each<readonly [Partial<FarmStatus>, string | undefined]>([
    [{ state: 'down' }, 'critical ZlbFarmDown: Farm shop is down'],
    [{ state: 'critical' }, 'critical ZlbFarmDown: Farm shop is critical'],
    [{ state: 'needed_restart' }, 'warning ZlbFarmNeedsRestart: Farm shop waits for a restart'],
    [{ state: 'problem' }, 'warning ZlbBackendDown: Some backends of farm shop are down'],
    [{ state: 'unknown' }, 'warning ZlbFarmStatusUnknown: Nobody can tell how farm shop is'],
    [{ state: 'maintenance' }, undefined],
    [{ state: 'critical', isSilent: true }, 'critical ZlbFarmDown: The proxy of farm shop does not answer'],
    [{ state: 'up', isSilent: true }, 'critical ZlbFarmDown: The proxy of farm shop does not answer'],
    [{ state: 'down', isSilent: true }, 'critical ZlbFarmDown: Farm shop is down'],
    // The state of the farm explains its backends.
    [{ state: 'critical', backends: [aDown] }, 'critical ZlbFarmDown: Farm shop is critical'],
    [{ backends: undefined }, 'unknown ZlbCollectorStale: The backends of farm shop are not known'],
    [{ backends: undefined, profile: 'datalink' }, undefined],
    [{ backends: [] }, undefined],
    [{ probe: unreachable }, 'critical ZlbFarmUnreachable: Farm shop cannot be reached'],
    [{ probe: unreachable, state: 'down' }, 'critical ZlbFarmDown: Farm shop is down'],
  ])('is a farm with %j: %s', (farm, problem) => {
    expect(problemsOf({ farms: [farmStatus({ name: 'shop', ...farm })] })).toEqual(problem ? [problem] : []);
  });

  it('is a farm that accepts connections and answers no handshake', () => {
    const served = [{ serverName: '', failure: 'timeout', certificate: undefined, isInStore: undefined } as const];
    const probe = { isReachable: true, connectSeconds: 0.01, failure: undefined, served, address, atMs: nowMs };

    expect(problemsOf({ farms: [farmStatus({ name: 'shop', probe })] })).toEqual([
      'critical ZlbFarmUnreachable: Farm shop accepts connections and does not answer',
    ]);
  });

  it('is not known of an L4 farm that refuses, and was never reached: it may be one for UDP', () => {
    const probe = { ...unreachable, isReachable: undefined };
    const farms = [farmStatus({ name: 'db', profile: 'l4xnat', probe })];

    expect(problemsOf({ farms })).toEqual(['unknown ZlbFarmUnreachable: Nobody can tell whether farm db serves']);
    expect(applianceProblems(statusWith({ name: 'db', probe }), nowMs)[0]?.meaning).toContain(address);
    const notAllowed = { ...probe, failure: 'not_allowed' } as const;
    expect(problemsOf({ farms: [farmStatus({ name: 'db', profile: 'l4xnat', probe: notAllowed })] })).toEqual([]);
    expect(problemsOf({ farms: [farmStatus({ name: 'db', profile: 'l4xnat', state: 'down', probe })] })).toEqual([
      'critical ZlbFarmDown: Farm db is down',
    ]);
  });

  it.each([
    ['is not known', undefined, 'The states of its backends were not read.'],
    ['is none of those that it lists', [backendStatus({ backend: 'a', state: 'up' })], 'none of those that it lists'],
  ])('says of a farm with a problem which backend %s', (_, backends, words) => {
    const [problem] = applianceProblems(statusWith({ name: 'shop', state: 'problem', backends }), nowMs);

    expect(problem?.title).toBe('Some backends of farm shop are down');
    expect(problem?.meaning).toContain(words);
  });

  it('is one doubt for all farms while their backends are read for the first time', () => {
    const farms = ['a', 'b', 'c'].map((name) => farmStatus({ name, backends: undefined }));
    const collectors = [collectorStatus({ name: 'backends', ok: undefined, lastSuccessMs: undefined })];

    expect(problemsOf({ farms, collectors })).toEqual([
      'unknown ZlbCollectorStale: The backends of 3 farms are read for the first time',
    ]);
  });

  it('is a list of farms without any state', () => {
    const farms = ['shop', 'db'].map((name) => farmStatus({ name, state: 'unknown' }));

    expect(problemsOf({ farms })).toContain('critical ZlbFarmsUnknown: No farm of lb-1 has a known state');
  });

  it.each<readonly [string, Partial<ApplianceStatus>, readonly string[]]>([
    [
      'an objective of no farm',
      { objectives: ['shop', 'shopp'] },
      ['ZlbObjectiveWithoutFarm: lb-1 has no farm shopp, which has an objective'],
    ],
    ['an objective while no farm is known', { objectives: ['shopp'], farms: undefined }, []],
    [
      'a farm that logs no requests',
      { objectives: [], farms: [farmStatus({ name: 'shop', logs: false }), farmStatus({ name: 'db', logs: true })] },
      ['ZlbRequestLogSilent: Farm shop of lb-1 logs no requests'],
    ],
    ['one that logs none to nobody', { farms: [farmStatus({ name: 'shop', logs: false })] }, []],
    ['one of which nobody says it', { objectives: [], farms: [farmStatus({ name: 'shop' })] }, []],
  ])('may be %s', (_, status, problems) => {
    expect(problemsOf(status)).toEqual(problems.map((problem) => `warning ${problem}`));
  });

  it.each([
    ['status', 1, 'Not all of /stats/farms of lb-1 can be read: 1 value of status'],
    ['farmname', 2, 'Not all of /stats/farms of lb-1 can be read: 2 rows without a readable farmname'],
  ])('is an unreadable %s in a reply', (field, count, title) => {
    const unreadable = [{ endpoint: '/stats/farms', field, count, example: '{}' }];
    const collectors = [collectorStatus({ name: 'farms', unreadable })];

    expect(problemsOf({ collectors })).toEqual([`warning ZlbCollectorStale: ${title}`]);
    expect(problemsOf({ collectors, up: false })).not.toContain(`warning ZlbCollectorStale: ${title}`);
  });

  it.each([
    ['up up up down', 'warning ZlbBackendDown: Backend b3 of service front of farm shop is down'],
    ['up up down down', 'warning ZlbFarmDegraded: 2 of 4 backends of service front of farm shop are down'],
    ['down down down maintenance', 'critical ZlbFarmNoBackends: No backend is up in service front of farm shop'],
    ['up up up maintenance', undefined],
    ['unknown unknown unknown unknown', 'unknown ZlbCollectorStale: The backends of farm shop are not known'],
  ])('is a service whose backends are %s: %s', (states, problem) => {
    const backends = states.split(' ').map((state, index) => backendStatus({ backend: `b${index}`, state }));

    expect(problemsOf({ farms: [farmStatus({ name: 'shop', backends })] })).toEqual(problem ? [problem] : []);
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
    [-1, ['shop'], ['critical ZlbCertificateExpiryImminent: Certificate a.pem has expired']],
    [-1, [], ['warning ZlbUnusedCertificateExpiry: Certificate a.pem has expired']],
    [-1, undefined, ['warning ZlbUnusedCertificateExpiry: Certificate a.pem has expired']],
    [2, ['shop'], ['critical ZlbCertificateExpiryImminent: Certificate a.pem expires in 2 d']],
    [2, [], ['warning ZlbUnusedCertificateExpiry: Certificate a.pem expires in 2 d']],
    [13, ['shop'], ['warning ZlbCertificateExpirySoon: Certificate a.pem expires in 13 d']],
    [2, undefined, ['warning ZlbUnusedCertificateExpiry: Certificate a.pem expires in 2 d']],
    [13, undefined, ['unknown ZlbCertificateExpirySoon: Certificate a.pem expires in 13 d']],
    [13, [], []],
    [29, ['shop'], []],
  ])('is a certificate of a year with %s days left that %j use', (days, usedBy, problems) => {
    const notAfterSeconds = (nowMs + days * dayMs) / 1_000;
    const notBeforeSeconds = notAfterSeconds - 365 * 86_400;
    const certificate = certificateStatus({ file: 'a.pem', usedBy, notBeforeSeconds, notAfterSeconds });

    expect(problemsOf({ certificates: [certificate] })).toEqual(problems);
  });

  it.each([
    [['shop'], ['critical ZlbCertificateExpiryImminent: Certificate a.pem is not valid yet']],
    [[], []],
    [undefined, []],
  ])('is a certificate that is not valid yet and that %j use', (usedBy, problems) => {
    const dates = { notBeforeSeconds: (nowMs + dayMs) / 1_000, notAfterSeconds: (nowMs + 365 * dayMs) / 1_000 };

    expect(problemsOf({ certificates: [certificateStatus({ file: 'a.pem', usedBy, ...dates })] })).toEqual(problems);
  });

  it.each([
    [-1, ['critical ZlbCertificateExpiryImminent: Certificate a.pem has expired']],
    [2, ['critical ZlbCertificateExpiryImminent: Certificate a.pem expires in 2 d']],
    [13, ['warning ZlbCertificateExpirySoon: Certificate a.pem expires in 13 d']],
    [29, []],
  ])('is as bad with %s days left while it is only known that a farm used it', (days, problems) => {
    const notAfterSeconds = (nowMs + days * dayMs) / 1_000;
    const notBeforeSeconds = notAfterSeconds - 365 * 86_400;
    const lastKnownUse = { farms: ['shop'], readMs: nowMs - 40 * minuteMs };
    const given = { usedBy: undefined, lastKnownUse, notBeforeSeconds, notAfterSeconds };

    expect(problemsOf({ farms: undefined, certificates: [certificateStatus({ file: 'a.pem', ...given })] })).toEqual(
      problems,
    );
  });

  it('is a farm whose certificate has no file, if the store was read', () => {
    const farms = [farmStatus({ name: 'shop', certificates: ['gone.pem'] })];

    expect(problemsOf({ farms })).toEqual([
      'warning ZlbCertificateInvalid: Farm shop has a certificate whose file is gone',
    ]);
    expect(problemsOf({ farms, certificates: undefined })).toEqual([]);
  });

  it.each([
    ['forbidden', 'critical ZlbFarmsUnknown: The API key of lb-1 may not read its farms'],
    ['malformed', 'critical ZlbFarmsUnknown: No farm of lb-1 is known'],
    ['timeout', 'critical ZlbFarmsUnknown: No farm of lb-1 is known'],
  ] as const)('is an appliance that answers, and whose farms cannot be read: %s', (reason, problem) => {
    const collectors = [failing('farms', reason), failing('vpn', 'forbidden')];

    expect(problemsOf({ farms: undefined, collectors })).toEqual([
      problem,
      'warning ZlbCollectorStale: The API key of lb-1 may not read vpn',
    ]);
    expect(problemsOf({ farms: undefined, collectors: [collectorStatus({ name: 'farms', ok: undefined })] })).toEqual(
      [],
    );
  });

  const down = { profile: 'l4xnat', state: 'down', vip: '192.0.2.22', vport: '5432' };
  it.each([
    [{}, 'The appliance says that it is down. It listened on 192.0.2.22:5432.'],
    [
      { probe: unreachable },
      'The appliance says that it is down. A connection from here to 192.0.2.22:5432 was refused 2 min ago.',
    ],
    [
      { probe: { ...unreachable, failure: 'timeout' as const } },
      'The appliance says that it is down. A connection from here to 192.0.2.22:5432 timed out 2 min ago.',
    ],
    [
      { probe: { ...unreachable, isReachable: true, connectSeconds: 0.01, failure: undefined } },
      'The appliance says that it is down. Nevertheless, a connection from here to 192.0.2.22:5432 succeeded 2 min ago: its clients may still be served.',
    ],
  ])('says of a farm that is down what is known of it: %j', (parts, meaning) => {
    expect(applianceProblems(statusWith({ name: 'db', ...down, ...parts }), nowMs)).toMatchObject([{ meaning }]);
  });

  const dated = { configuredAtMs: nowMs - 9 * minuteMs };
  it.each<readonly [string, Partial<ApplianceStatus>, string]>([
    [
      'that cannot be reached: when that was tried',
      { farms: [farmStatus({ name: 'shop', probe: unreachable })] },
      'Its appliance does not call it down, but a connection from here to 192.0.2.22:5432 was refused 2 min ago.',
    ],
    [
      'with L4 that is refused: the daemon, and the stop and start of each',
      { farms: [farmStatus({ name: 'db', profile: 'l4xnat', probe: unreachable })] },
      'refused 2 min ago. Their daemon nftlb may have been started without them: stop and start each L4 farm, since the start of one leaves the others without rules.',
    ],
    [
      'without the file of its certificate: when both were read',
      { farms: [farmStatus({ name: 'shop', certificates: ['gone.pem'], ...dated })] },
      'The store (read <1 min ago) does not have gone.pem, which its configuration (read 9 min ago) names.',
    ],
    [
      'that does not serve what the store has: when both were read',
      { farms: [farmStatus({ name: 'shop', probe: serving({ isInStore: false, days: 20 }) })] },
      'Asked 1 min ago for: shop.test. The store was read <1 min ago.',
    ],
    [
      'that logs no requests: when that was read',
      { objectives: [], farms: [farmStatus({ name: 'shop', logs: false, ...dated })] },
      'Their configuration was read 9 min ago.',
    ],
    [
      'that uses no certificate: when that was read',
      { certificates: [ended({ usedBy: [] })] },
      'No farm uses it (read 9 min ago): delete it, so that nobody attaches it.',
    ],
    [
      'that uses a certificate: when that was read',
      { certificates: [ended({ usedBy: ['shop'] })] },
      'Farm shop uses it (read 9 min ago).',
    ],
    [
      'that used a certificate: when that was known last',
      {
        certificates: [ended({ usedBy: undefined, lastKnownUse: { farms: ['shop'], readMs: nowMs - 40 * minuteMs } })],
      },
      'Clients refuse it. It was used by farm shop 40 min ago; whether it still is was not read since.',
    ],
  ])('says of a farm %s', (_, status, words) => {
    expect(applianceProblems(applianceStatus({ name: 'lb-1', ...status }), nowMs)[0]?.meaning).toContain(words);
  });

  it('points to their daemon where several L4 farms went down together', () => {
    const farms = [
      farmStatus({ name: 'db', ...down, sinceMs: nowMs - minuteMs }),
      farmStatus({ name: 'dns', ...down, sinceMs: nowMs - minuteMs }),
      farmStatus({ name: 'alone', ...down, sinceMs: nowMs - dayMs }),
      farmStatus({ name: 'web', ...down, profile: 'http', sinceMs: nowMs - minuteMs }),
    ];

    const problems = applianceProblems(applianceStatus({ name: 'lb-1', farms }), nowMs);

    expect(problems.filter(({ meaning }) => meaning.includes('nftlb')).map(({ labels }) => labels?.farm)).toEqual([
      'db',
      'dns',
    ]);
    expect(problems[0]?.meaning).toContain('2 L4 farms are down at once');
  });

  it('points to their daemon where all L4 farms were down when they were first read', () => {
    const farms = ['db', 'dns'].map((name) => farmStatus({ name, ...down, sinceMs: undefined }));
    const meanings = (more: readonly FarmStatus[]) =>
      applianceProblems(applianceStatus({ name: 'lb-1', farms: [...farms, ...more] }), nowMs).map(
        ({ meaning }) => meaning,
      );

    expect(meanings([])[0]).toContain('2 L4 farms are down at once');
    expect(meanings([farmStatus({ name: 'mail', profile: 'l4xnat' })]).join(' ')).not.toContain('nftlb');
  });

  it.each([398, 200, 100, 90, 64, 47, 45, 6.7])(
    'is no certificate of %s days with a third of its life left, but one with little less than a quarter and a tenth',
    (lifeDays) => {
      const problemsWith = (leftDays: number) => {
        const notAfterSeconds = (nowMs + leftDays * dayMs) / 1_000;
        const notBeforeSeconds = notAfterSeconds - lifeDays * 86_400;
        return problemsOf({ certificates: [certificateStatus({ file: 'a.pem', notBeforeSeconds, notAfterSeconds })] });
      };

      expect(problemsWith(lifeDays / 3)).toEqual([]);
      expect(problemsWith(Math.min(28, 0.25 * lifeDays) - 0.001)).toEqual([
        expect.stringMatching(/^warning ZlbCertificateExpirySoon/),
      ]);
      expect(problemsWith(Math.min(3, 0.1 * lifeDays) - 0.001)).toEqual([
        expect.stringMatching(/^critical ZlbCertificateExpiryImminent/),
      ]);
    },
  );

  it('is a certificate that cannot be read or does not load, and no signing request', () => {
    const certificates = [
      certificateStatus({ file: 'garbage.pem', isUnreadable: true, notAfterSeconds: undefined }),
      certificateStatus({ file: 'bad_key.pem', state: 'invalid' }),
      certificateStatus({ file: 'a.csr', kind: 'csr', notAfterSeconds: undefined }),
    ];

    expect(problemsOf({ certificates })).toEqual([
      'warning ZlbCertificateInvalid: Certificate garbage.pem cannot be read',
      'warning ZlbCertificateInvalid: Certificate bad_key.pem does not load',
    ]);
  });

  it.each([
    ['temporal', 365, 2, ['critical ZlbActivationExpiryImminent: The licence of lb-1 ends in 2 d']],
    ['temporal', 365, 20, ['warning ZlbActivationExpirySoon: The licence of lb-1 ends in 20 d']],
    ['temporal', 365, 29, []],
    // A trial with a third of its life left.
    ['temporal', 30, 10, []],
    ['permanent', 365, 2, []],
    ['permanent', 365, -2, ['warning ZlbActivationExpirySoon: The support of lb-1 has ended']],
  ])('is a %s licence of %s days that ends in %s days', (kind, lifeDays, days, problems) => {
    const notAfterSeconds = (nowMs + days * dayMs) / 1_000;
    const notBeforeSeconds = notAfterSeconds - lifeDays * 86_400;

    expect(problemsOf({ activation: { status: 'activated', kind, notBeforeSeconds, notAfterSeconds } })).toEqual(
      problems,
    );
  });

  it('is its deactivation, and not the readings that it refuses for that', () => {
    const collectors = [failing('farms', 'unlicensed'), failing('backends', 'unlicensed')];

    expect(problemsOf({ deactivated: true, farms: undefined, collectors })).toEqual([
      'warning ZlbApplianceDeactivated: lb-1 is deactivated',
    ]);
  });

  it('is its silence, with the reason and since when, and not each reading that fails for it', () => {
    const collectors = [failing('farms', 'timeout', 3), failing('backends', 'breaker_open', 2)];

    const [problem, ...others] = applianceProblems(applianceStatus({ name: 'lb-1', up: false, collectors }), nowMs);

    expect(problem).toMatchObject({
      level: 'warning',
      title: 'lb-1 does not answer: no answer in time',
      sinceMs: nowMs - 3 * minuteMs,
      alert: 'ZlbApplianceUnreachable',
    });
    expect(others).toEqual([]);
  });

  it.each([
    ['timeout', 'lb-1 does not answer: no answer in time'],
    ['tls', 'lb-1 does not answer: its certificate is not the trusted one'],
    ['not_found', 'lb-1 does not answer as an appliance does: not found'],
  ] as const)('is that nothing is known of it, if it never was read: %s', (reason, title) => {
    const collectors = [{ ...failing('farms', reason), lastSuccessMs: undefined }];

    expect(applianceProblems(applianceStatus({ name: 'lb-1', up: false, collectors }), nowMs)).toMatchObject([
      { title, meaning: 'It was not read since the exporter was started: nothing is known of it.' },
    ]);
  });

  it('is its silence before what it said last is too old', () => {
    const collectors = [failing('farms', 'timeout', 3), failing('backends', 'breaker_open', 2)];

    expect(problemsOf({ up: true, breaker: 'open', collectors })).toEqual([
      'warning ZlbApplianceUnreachable: lb-1 has stopped answering: no answer in time',
    ]);
  });

  it('is what does not fit into the limit of series, for nobody sees that anywhere', () => {
    expect(problemsOf({ seriesLeftOut: 1_200 })).toEqual(['warning ZlbExporterFault: Not all of lb-1 is shown']);
  });

  it('is an interface that was seen to go down', () => {
    const interfaces = [
      { name: 'eth0', state: 'down', sinceMs: nowMs },
      { name: 'eth1', state: 'down' },
    ];

    expect(problemsOf({ interfaces })).toEqual(['warning ZlbInterfaceDown: Interface eth0 of lb-1 is down']);
  });

  it('is a key that is refused, whether the appliance still counts as up or not', () => {
    const collectors = [failing('farms', 'unauthorized'), failing('backends', 'breaker_open')];

    for (const up of [true, false])
      expect(problemsOf({ up, collectors })).toEqual(['warning ZlbApplianceUnreachable: lb-1 refuses the API key']);
  });

  it('is its silence, by the newest call and not by one that failed for another reason before', () => {
    const collectors = [failing('farms', 'unauthorized', 5)];
    const failure = { reason: 'connect', sinceMs: nowMs - 2 * minuteMs } as const;

    expect(problemsOf({ up: false, failing: failure, collectors })).toEqual([
      'warning ZlbApplianceUnreachable: lb-1 does not answer: no connection',
    ]);
  });

  it('is as old as what was read last from the appliance, and not as the last probe of its farms', () => {
    const collectors = [
      { ...failing('farms', 'timeout'), lastSuccessMs: nowMs - 7 * minuteMs },
      collectorStatus({ name: 'vip', lastSuccessMs: nowMs }),
    ];

    expect(applianceProblems(applianceStatus({ name: 'lb-1', up: false, collectors }), nowMs)[0]?.meaning).toMatch(
      /The last good reading was 7 min ago\.$/,
    );
  });

  it.each([
    [failing('vpn', 'forbidden'), 'warning ZlbCollectorStale: The API key of lb-1 may not read vpn'],
    [failing('system', 'server_error'), 'warning ZlbCollectorStale: The reading of system from lb-1 fails'],
    [
      { ...failing('system', 'malformed'), isStale: true },
      'warning ZlbCollectorStale: The reading of system from lb-1 fails',
    ],
  ])('is a reading that fails: %j', (collector, problem) => {
    expect(problemsOf({ collectors: [collectorStatus({ name: 'appliance' }), collector] })).toEqual([problem]);
  });

  it.each<readonly [Serving, string | undefined]>([
    [{ isInStore: true, days: 2 }, undefined],
    [
      { isInStore: false, days: 2 },
      'critical ZlbCertificateExpiryImminent: The certificate that farm shop serves ends in 2 d',
    ],
    [{ days: -1 }, 'critical ZlbCertificateExpiryImminent: The certificate that farm shop serves has expired'],
    [
      { isInStore: false, days: 20 },
      'warning ZlbServedCertificateDiffers: Farm shop does not serve its certificate of the store',
    ],
    [
      { isInStore: true, days: 20, coversName: false },
      'warning ZlbServedCertificateWrongName: The certificate that farm shop serves does not cover its name',
    ],
    [{ days: 20 }, 'warning ZlbCertificateExpirySoon: The chain that farm shop serves ends in 20 d'],
    [
      { isInStore: true, days: 200, chainDays: 2 },
      'warning ZlbCertificateExpirySoon: The chain that farm shop serves ends in 2 d',
    ],
    [{ isInStore: true, days: 20, chainDays: 300 }, undefined],
  ])('is a farm that serves %j: %s', (given, problem) => {
    const farms = [farmStatus({ name: 'shop', probe: serving(given) })];

    expect(problemsOf({ farms })).toEqual(problem ? [problem] : []);
  });

  it('is listed once for all names with one fault', () => {
    const probe = serving({ days: 20, isInStore: false });
    const farm = farmStatus({ name: 'shop', probe: { ...probe, served: [...probe.served, ...probe.served] } });

    expect(problemsOf({ farms: [farm] })).toHaveLength(1);
  });

  it('names only alerts that exist', () => {
    const named = ['src/state', 'src/pages/status'].flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .flatMap(({ name }) => readFileSync(`${folder}/${name}`, 'utf8').match(/(?<=')Zlb\w+(?=')/g) ?? []),
    );

    expect(new Set(named).size).toBeGreaterThan(15);
    expect(named.filter((alert) => !alertNames.includes(alert))).toEqual([]);
  });
});

it('the order of what is wrong is the worst first, of these the newest, then what was so before anybody looked, and last what is still to come', () => {
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

/** Each problem as a line. */
function problemsOf(given: Partial<ApplianceStatus>): string[] {
  return applianceProblems(applianceStatus({ name: 'lb-1', ...given }), nowMs).map(
    ({ level, alert, title }) => `${level} ${alert}: ${title}`,
  );
}

interface Serving {
  readonly days: number;
  readonly chainDays?: number;
  readonly coversName?: boolean;
  readonly isInStore?: boolean;
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

/** A certificate that has ended, by configurations of nine minutes ago. */
function ended(given: Pick<CertificateStatus, 'usedBy' | 'lastKnownUse'>): CertificateStatus {
  const times = { notAfterSeconds: nowMs / 1_000 - 60, usersReadMs: nowMs - 9 * minuteMs };
  return certificateStatus({ file: 'a.pem', ...times, ...given });
}

function statusWith(farm: Partial<FarmStatus> & { readonly name: string }): ApplianceStatus {
  return applianceStatus({ name: 'lb-1', farms: [farmStatus(farm)] });
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
