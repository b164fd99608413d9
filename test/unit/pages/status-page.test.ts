import { neverCompared } from '../../../src/history/twins.ts';
import { type FastifyInstance, fastify } from 'fastify';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TwinStatus } from '../../../src/history/twin-watch.ts';
import type { ExporterInfo } from '../../../src/pages/status/exporter-panel.ts';
import { registerStatusPage } from '../../../src/pages/status/status-page.ts';
import { applianceProblems } from '../../../src/state/appliance-problems.ts';
import type { ApplianceStatus, FarmStatus, FleetStatus, LastMinute } from '../../../src/state/status.ts';
import {
  applianceStatus,
  backendStatus,
  certificateStatus,
  collectorStatus,
  dayMs,
  exporterInfo,
  farmStatus,
  fleetStatus,
  minuteMs,
  nowMs,
} from '../../support/fleet-status.ts';
import { givenHistory } from '../../support/given-events.ts';
import { turnsDuring } from '../../support/loop-turns.ts';

describe('the summary line', () => {
  it('reports no problem only if everything was read and is fresh', async () => {
    expect(await sentence(applianceStatus({ name: 'lb-1' }))).toBe('Nothing is wrong');
    expect(await pageWith({})).toContain('Only alerts cover');
  });

  it.each<[string, Partial<ApplianceStatus>]>([
    ['was not polled yet', { up: undefined, farms: undefined, collectors: [] }],
    [
      'has a reading that is late',
      { collectors: [collectorStatus({ name: 'farms', lastSuccessMs: nowMs - 2 * minuteMs })] },
    ],
    ['has a reading that is not exported', { collectors: [collectorStatus({ name: 'farms', isStale: true })] }],
    [
      'has a reading still to come',
      { collectors: [collectorStatus({ name: 'farms', ok: undefined, lastSuccessMs: undefined })] },
    ],
    ['has a farm with unknown backends', { farms: [farmStatus({ name: 'shop', backends: undefined })] }],
    [
      'has a backend of unknown state',
      {
        farms: [
          farmStatus({
            name: 'shop',
            backends: [
              backendStatus({ backend: '10.0.0.1:80' }),
              backendStatus({ backend: '10.0.0.2:80', state: 'unknown' }),
            ],
          }),
        ],
      },
    ],
  ])('does not report an appliance as healthy that %s', async (_, given) => {
    const shown = await sentence(applianceStatus({ name: 'lb-1', ...given }));

    expect(shown).toBe('Nothing is known to be wrong, but not all is known');
  });

  it('does not require what the API lacks: the backends of datalink farms, and features of other editions', async () => {
    const farms = [farmStatus({ name: 'uplink', profile: 'datalink', backends: undefined })];
    const collectors = [
      collectorStatus({ name: 'farms' }),
      collectorStatus({ name: 'vpn', isSupported: false, ok: undefined }),
    ];

    expect(await sentence(applianceStatus({ name: 'lb-1', farms, collectors }))).toBe('Nothing is wrong');
  });

  it('counts problems, and reports an empty configuration', async () => {
    const down = farmStatus({ name: 'shop', state: 'down' });
    const restart = farmStatus({ name: 'portal', state: 'needed_restart' });

    expect(await sentence(applianceStatus({ name: 'lb-1', farms: [down, restart] }))).toBe(
      '2 things are wrong: 1 critical, 1 warning',
    );
    expect(await sentence(applianceStatus({ name: 'lb-1', farms: [restart] }))).toBe('1 thing is wrong: 1 warning');
    expect(await sentence()).toBe('Nothing is watched');
  });

  it('does not count an unresponsive appliance as responding', async () => {
    const collectors = [
      collectorStatus({ name: 'farms', ok: false, failure: { reason: 'timeout', sinceMs: nowMs - minuteMs } }),
    ];

    const text = await pageWith({ up: false, breaker: 'open', collectors });

    expect(text).toContain('The appliance does not answer;');
    expect(text).toContain('>no answer<');
    expect(text).not.toMatch(/>answers</);
  });

  it('counts the farms of unresponsive appliances as last read', async () => {
    const collectors = [collectorStatus({ name: 'farms', lastSuccessMs: nowMs - 4 * minuteMs })];
    const away = (name: string, ...states: readonly string[]) =>
      applianceStatus({
        name,
        up: false,
        collectors,
        farms: states.map((state, index) => farmStatus({ name: `${name}-${index}`, state })),
      });
    const basis = async (...appliances: readonly ApplianceStatus[]) =>
      /<\/h1>\s*<p>([^<]*)</.exec(await textAt(givenPage(fleetStatus(...appliances)), '/'))?.[1];

    expect(await basis(away('lb-1', 'up', 'down'), away('lb-2', 'up'))).toContain(
      '0 of 2 appliances answer; how their farms are is not known. Last read 2026-11-21 03:08:04 UTC or earlier: 3 farms: 2 up, 1 down',
    );
    expect(await basis(applianceStatus({ name: 'lb-1' }), away('lb-2', 'down'))).toContain(
      '1 of 2 appliances answer; 1 farm, up. Last read of the other 2026-11-21 03:08:04 UTC: 1 farm, down',
    );
    const text = await textAt(givenPage(fleetStatus(away('lb-1', 'down'))), '/');
    expect(text).toContain('The appliance says that it is down. It listened on 192.0.2.40:443. Last read 4 min ago.');
  });

  it('states the number of appliances of other shards', async () => {
    const shard = { index: 2, count: 4, otherShards: new Map([['lb-9', 0]]) };
    const basis = async (...appliances: readonly ApplianceStatus[]) =>
      /<\/h1>\s*<p>([^<]*)</.exec(await textAt(givenPage(fleetStatus(...appliances), { shard }), '/'))?.[1];

    expect(await basis(applianceStatus({ name: 'lb-1' }))).toContain(
      'This is shard 2/4: 1 appliance is watched by the others.',
    );
    expect(await basis()).toBe(
      'No appliance is assigned to this shard. This is shard 2/4: 1 appliance is watched by the others.',
    );
  });

  it('counts a refused configuration', async () => {
    const text = await pageWith({}, '/', { configuration: { isInForce: false, loadedAtMs: nowMs } });

    expect(text).toContain('The exporter refused its new configuration');
  });

  it('is followed by the credential of the exporter that expires first', async () => {
    const credentials = [
      { kind: 'metrics_certificate', principal: '', endsAtMs: nowMs + 90 * dayMs },
      { kind: 'token', principal: 'alice', endsAtMs: nowMs + 3 * dayMs },
    ] as const;

    const text = await pageWith({}, '/', { configuration: { isInForce: true, loadedAtMs: nowMs, credentials } });

    expect(text).toMatch(/Ends first<\/dt><dd><span class="state warning">.*in 3 d<\/span> <small>token of <bdi>alice/);
  });
});

describe('the page of a large fleet', () => {
  it('is small, with the worst first and links to the rest', async () => {
    const appliances = Array.from({ length: 1_000 }, (_, index) =>
      applianceStatus({
        name: `lb-${index}`,
        farms: Array.from({ length: 5 }, (_item, farm) =>
          farmStatus({ name: `farm-${farm}`, state: index === 700 && farm === 3 ? 'down' : 'up' }),
        ),
        collectors: ['farms', 'backends', 'certificates', 'system', 'interfaces', 'vpn'].map((name) =>
          collectorStatus({ name }),
        ),
      }),
    );
    const app = givenPage(fleetStatus(...appliances));

    const page = await textAt(app, '/');

    expect(page.length).toBeLessThan(300_000);
    expect(page).toContain('Farm farm-3 is down');
    expect(rowsOf(page).slice(0, 2)).toEqual(['lb-700', 'lb-0']);
    expect(page).toContain('and 950 more');
    const last = await textAt(app, '/?list=appliances&page=10');
    expect(rowsOf(last).at(-1)).toBe('lb-999');
    expect(await textAt(app, '/?list=appliances&page=99')).toContain('Page 10 of 10');
  });

  it('yields to other work while it is rendered', async () => {
    const farms = Array.from({ length: 20 }, (_, farm) => farmStatus({ name: `farm-${farm}` }));
    const appliances = Array.from({ length: 5_000 }, (_, index) => applianceStatus({ name: `lb-${index}`, farms }));
    const app = givenPage(fleetStatus(...appliances));
    const turns = await turnsDuring(() => textAt(app, '/?q=farm-3'));

    // Without slices there are four: to read the request, to look, to write and to send.
    expect(turns).toBeGreaterThan(8);
  });
});

describe('the overview', () => {
  const fleetOf = (count: number): FleetStatus =>
    fleetStatus(
      ...Array.from({ length: count }, (_, index) =>
        applianceStatus({
          name: `lb-${index}`,
          url: `https://192.0.2.${index}:444`,
          labels: { rack: `r${index}`, site: ['paris', 'madrid', 'berlin'][index % 3] ?? '' },
          edition: index % 2 ? 'enterprise' : 'community',
          farms: [farmStatus({ name: 'shop', state: index === 4 ? 'down' : 'up' })],
        }),
      ),
    );
  const groupsIn = (page: string) => {
    const table = /<table class="groups">.*?<\/table>/s.exec(page)?.[0] ?? '';
    return [...table.matchAll(/<tr data-key="([^"]*)">(.*?)<\/tr>/gs)].map(([, name, cells = '']) => [
      name,
      withoutMarkup(cells),
    ]);
  };

  it('comes before the appliances, by the first label that divides them, the worst group first', async () => {
    const page = await textAt(givenPage(fleetOf(12)), '/');

    expect(groupsIn(page)).toEqual([
      ['madrid', 'madrid 1 critical 3 well lb-4 3 of 4'],
      ['berlin', 'berlin 4 well none 4 of 4'],
      ['paris', 'paris 4 well none 4 of 4'],
    ]);
    expect(page.indexOf('id="groups"')).toBeLessThan(page.indexOf('id="problems"'));
    expect(page).toContain('href="./?by=edition"');
    expect(rowsOf(page)).toHaveLength(12);
  });

  it('does not count unknown farms as up', async () => {
    const fleet = fleetOf(12);
    const unread = fleet.appliances.map((status, index) => (index === 1 ? { ...status, farms: undefined } : status));

    const groups = groupsIn(await textAt(givenPage(fleetStatus(...unread)), '/'));

    expect(groups[0]).toEqual(['madrid', 'madrid 1 critical 1 unknown 2 well lb-4 , lb-1 2 of 3 not all known']);
  });

  it('is omitted when a few appliances are visible at once', async () => {
    expect(await textAt(givenPage(fleetOf(3)), '/')).not.toContain('id="groups"');
  });

  it('keeps the worst of two hundred appliances on the first page, and each group on its own', async () => {
    const app = givenPage(fleetOf(200));

    const page = await textAt(app, '/');
    expect(rowsOf(page)).toHaveLength(12);
    expect(page).toContain('and 188 more');
    const madrid = await textAt(app, '/?by=site&group=madrid');
    expect(rowsOf(madrid)).toHaveLength(67);
    expect(madrid).toContain('1 thing is wrong: 1 critical');
    expect(groupsIn(await textAt(app, '/?by=edition')).map(([name]) => name)).toEqual(['community', 'enterprise']);
    expect(await textAt(app, '/?by=nothing&group=nowhere')).toContain('There is none.');
  });
});

describe('a link', () => {
  const status = applianceStatus({
    name: 'lb-1',
    url: 'https://192.0.2.7:444',
    farms: [farmStatus({ name: 'shop', state: 'down', certificates: ['old.pem'] })],
    certificates: [
      certificateStatus({ file: 'old.pem', notAfterSeconds: nowMs / 1_000 - 60, state: 'expired', usedBy: ['shop'] }),
    ],
    interfaces: [{ name: 'eth1', state: 'down', sinceMs: nowMs }],
  });

  it('leads from each headline to its view', async () => {
    const app = givenPage(fleetStatus(status), { configuration: { isInForce: false, loadedAtMs: nowMs } });

    const page = await textAt(app, '/');

    expect(new Set([...page.matchAll(/<h3>.*?href="([^"]*)".*?<\/h3>/g)].map(([, href]) => href))).toEqual(
      new Set([
        './#exporter',
        './?appliance=lb-1',
        './?appliance=lb-1&amp;certificate=old.pem',
        './?appliance=lb-1&amp;farm=shop',
      ]),
    );
  });

  it('leads to the web interface of an appliance, from the list and from its own view', async () => {
    const app = givenPage(fleetStatus(status));

    for (const url of ['/', '/?appliance=lb-1'])
      expect(await textAt(app, url)).toMatch(
        /<a href="https:\/\/192\.0\.2\.7:444"[^>]*><bdi[^>]*>192\.0\.2\.7:444<\/bdi><\/a>/,
      );
    expect(await textAt(app, '/?q=192.0.2.7')).toContain('1 match');
  });

  it('leads from a farm to its runbook and the command, or the way without the gateway', async () => {
    const down = { farms: [farmStatus({ name: 'shop', state: 'down' })] };
    const url = '/?appliance=lb-1&farm=shop';

    const on = await pageWith(down, url, { adminUrl: 'http://127.0.0.1:9445' });
    const off = await pageWith(down, url, { adminUrl: undefined });

    expect(on).toContain('href="./runbooks?appliance=lb-1&amp;farm=shop#zlbfarmdown"');
    expect(on).toContain(
      '<code>zlb-exporter admin lb-1 actOnFarm farmname=shop action=start --reason=ZlbFarmDown</code>',
    );
    expect(off).toContain('The admin gateway is off: start it in the web interface');
  });

  it('leads to the restart of a farm whose proxy hangs', async () => {
    const farms = [farmStatus({ name: 'shop', state: 'critical', isSilent: true })];

    const text = await pageWith({ farms }, '/?appliance=lb-1&farm=shop', { adminUrl: 'http://127.0.0.1:9445' });

    expect(text).toContain('<code>zlb-exporter admin lb-1 restart-farm farm=shop --reason=ZlbFarmDown</code>');
  });

  it('keeps a port unbroken, while the appliance view lists what is unknown', async () => {
    const farms = [farmStatus({ name: 'shop', vip: '2001:db8::20', vport: '40669', backends: undefined })];

    const text = await pageWith({ farms }, '/?appliance=lb-1');

    expect(text).toContain('2001:db8::20<span class="whole">:40669</span>');
    expect(text).toMatch(/What is not known[^]*The backends of farm shop are not known/);
  });

  it('leads from a farm to its certificates, and back', async () => {
    const app = givenPage(fleetStatus(status));

    expect(await textAt(app, '/?appliance=lb-1&farm=shop')).toContain(
      'href="./?appliance=lb-1&amp;certificate=old.pem"',
    );
    const certificate = await textAt(app, '/?appliance=lb-1&certificate=old.pem');
    expect(certificate).toContain('href="./?appliance=lb-1&amp;farm=shop"');
    expect(certificate).toContain('Certificate old.pem has expired');
    expect(await textAt(app, '/?appliance=lb-1&certificate=new.pem')).toContain(
      'no certificate in a file of that name',
    );
  });
});

it('a postponed reading does not count as failed: it is fresh, late or pending by its age', async () => {
  const failure = { reason: 'stretched', sinceMs: nowMs } as const;
  const old = nowMs - 30 * minuteMs;
  const collectors = [
    collectorStatus({ name: 'farms', failure }),
    collectorStatus({ name: 'system', failure, lastSuccessMs: old }),
    collectorStatus({ name: 'backends', failure: { ...failure, reason: 'farms_unknown' }, lastSuccessMs: undefined }),
    collectorStatus({ name: 'certificates', isStale: true, failure: { ...failure, reason: 'timeout' } }),
    collectorStatus({ name: 'vpn', ok: false, failure: { ...failure, reason: 'malformed' } }),
  ];

  const page = await pageWith({ collectors });

  expect(page).toContain('4 readings are not fresh: 1 failing, 1 too old to be shown, 1 late, 1 not read yet.');
  expect(page).toContain('1 of 5 fresh');
});

describe('the page of one appliance', () => {
  it('shows all of its farms and their backends, problems first', async () => {
    const farms = [
      farmStatus({ name: 'alpha' }),
      farmStatus({
        name: 'omega',
        backends: [backendStatus({ backend: '10.0.0.9:80', state: 'down' }), backendStatus({ backend: '10.0.0.8:80' })],
      }),
    ];
    const page = await textAt(givenPage(fleetStatus(applianceStatus({ name: 'lb 1', farms }))), '/?appliance=lb+1');

    expect([...page.matchAll(/<details class="farm"[^>]*>\s*.*?<b><bdi>(\w+)/gs)].map(([, name]) => name)).toEqual([
      'omega',
      'alpha',
    ]);
    for (const backend of ['10.0.0.1:80', '10.0.0.9:80']) expect(page).toContain(backend);
  });

  it('is a message if the appliance is not configured', async () => {
    const answer = await givenPage(fleetStatus()).inject('/?appliance=lb-9');

    expect(answer.statusCode).toBe(404);
    expect(answer.payload).toContain('No lb-9 here.');
  });

  it('shows unknown values as unknown', async () => {
    const unread = { up: undefined, farms: undefined, certificates: undefined, version: undefined, edition: undefined };

    const page = await pageWith(unread, '/?appliance=lb-1');

    expect(page).toContain('not asked yet');
    expect(page).toContain('They were not read, or so long ago that they are not shown.');
    expect(page).not.toContain('is up');
  });

  it.each<[string, Partial<FarmStatus>, string]>([
    [
      'are not known of a farm that is down',
      { state: 'down', backends: undefined, configuredBackends: [{ service: 'front', backend: '10.0.0.1:80' }] },
      'Its backends are not known while it is down. Configured: 10.0.0.1:80.',
    ],
    ['do not exist, as the appliance says', { backends: [] }, 'It has no backends.'],
  ])('shows farms whose backends %s', async (_, farm, sentence) => {
    const status = applianceStatus({ name: 'lb-1', farms: [farmStatus({ name: 'shop', ...farm })] });
    const page = await textAt(givenPage(fleetStatus(status)), '/?appliance=lb-1');

    expect(page.replaceAll(/<[^>]*>/g, '')).toContain(sentence);
  });
});

describe('the view of twins', () => {
  const given = (comparison: TwinStatus['comparison']) =>
    givenPage(fleetStatus(applianceStatus({ name: 'lb-1' })), {}, { twin: { name: 'lb-2', comparison } });
  const sectionOf = async (comparison: TwinStatus['comparison']): Promise<string> =>
    /<section id="twin".*?<\/section>/s.exec(await textAt(given(comparison), '/?appliance=lb-1'))?.[0] ?? '';
  const place = { object: 'backend', farm: 'shop', service: 'web', name: '10.0.0.1:80' } as const;

  it('shows both columns, and the effect of a failover', async () => {
    const differences = [
      { ...place, setting: '', here: 'weight 5', there: undefined },
      { ...place, setting: 'timeout', here: '', there: '<b>20</b>' },
    ];
    const section = await sectionOf({ differences, unknown: new Set(['certificate']) });

    expect(
      section
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ).toBe(
      'Twin lb-2 : 2 differences A failover lb-1 lb-2 ' +
        'A failover to lb-2 now would lose backend 10.0.0.1:80 of service web of farm shop. weight 5 not there ' +
        'A failover to lb-2 now would change timeout of backend 10.0.0.1:80 of service web of farm shop. ' +
        'not set &lt;b&gt;20&lt;/b&gt; Not known of both: certificate. ' +
        `Never compared: ${neverCompared.join('; ')}.`,
    );
  });

  it('says when nothing is known, and shows at most a hundred differences', async () => {
    expect(await sectionOf(undefined)).toContain('Not compared now');
    expect(await sectionOf({ differences: [], unknown: new Set() })).toContain('0 differences');
    const many = Array.from({ length: 103 }, () => ({ ...place, setting: 'weight', here: '1', there: '2' }));
    expect(await sectionOf({ differences: many, unknown: new Set() })).toContain('And 3 more');
  });
});

describe('a search', () => {
  const appliances = [
    applianceStatus({ name: 'lb-paris', labels: { site: 'paris' } }),
    applianceStatus({
      name: 'lb-madrid',
      certificates: [certificateStatus({ file: 'intranet.pem', commonName: 'Intranet.example.com' })],
    }),
    applianceStatus({
      name: 'lb-lisbon',
      deactivated: true,
      farms: [
        farmStatus({
          name: 'portal',
          state: 'down',
          vip: '192.0.2.41',
          backends: undefined,
          configuredBackends: [{ service: 'front', backend: '10.0.0.7:80' }],
        }),
        farmStatus({ name: 'payments', state: 'needed_restart', vip: '192.0.2.41', backends: [] }),
      ],
      certificates: [certificateStatus({ file: 'old.pem', notAfterSeconds: nowMs / 1_000 - 1 })],
    }),
  ];

  it.each([
    ['PARIS', '1 match'],
    ['10.0.0.2:80', '2 matches'],
    ['intranet.EXAMPLE', '1 match'],
    ['192.0.2.40:443', '2 matches'],
    ['nowhere', 'Nothing'],
    ['10.0.0.7', '1 match'],
    ['down', '1 match'],
    ['needs restart', '1 match'],
    ['expired', '1 match'],
    ['deactivated', '1 match'],
    ['up', 'Nothing'],
  ])('finds for %s in any case: %s', async (text, count) => {
    const page = await textAt(givenPage(fleetStatus(...appliances)), `/?q=${encodeURIComponent(text)}`);

    expect(page).toMatch(new RegExp(`${count} for “<bdi>`));
    expect(page).toContain(`value="${text}"`);
  });
});

describe('the response', () => {
  it('forbids foreign content, and sends no referrer', async () => {
    const { headers } = await givenPage(fleetStatus()).inject('/');

    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('is compressed on request, and empty for a client that has it cached', async () => {
    const app = givenPage(fleetStatus(applianceStatus({ name: 'lb-1' })));

    const plain = await app.inject('/');
    const compressed = await app.inject({ url: '/', headers: { 'accept-encoding': 'gzip' } });
    const again = await app.inject({ url: '/', headers: { 'if-none-match': String(plain.headers['etag']) } });

    expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.payload);
    expect([again.statusCode, again.payload]).toEqual([304, '']);
    // One tag for two representations may only be a weak one.
    expect(plain.headers['etag']).toMatch(/^W\/"/);
  });

  it('is rendered once for all requests within a second', async () => {
    let described = 0;
    const status = fleetStatus(applianceStatus({ name: 'lb-1' }));
    const app = givenPage(() => {
      described += 1;
      return status;
    });

    await Promise.all(Array.from({ length: 20 }, (_, index) => app.inject(index % 2 ? '/' : '/?appliance=lb-1')));

    expect(described).toBe(1);
  });

  it('does not delay the fleet page for searches of others', async () => {
    const app = givenPage(fleetStatus(applianceStatus({ name: 'lb-1' })));
    await textAt(app, '/?q=first');
    const done: string[] = [];
    const ask = async (url: string): Promise<void> => {
      await textAt(app, url);
      done.push(url);
    };

    await Promise.all([...Array.from({ length: 100 }, (_, index) => ask(`/?q=${index}`)), ask('/')]);

    expect(done.indexOf('/')).toBeLessThan(50);
  });

  it('includes its script, its style and an icon for each level, with the right types', async () => {
    const app = givenPage(fleetStatus());

    const types = await Promise.all(
      ['page.css', 'page.js', 'critical.svg', 'well.svg'].map(
        async (name) => (await app.inject(`/assets/${name}`)).headers['content-type'],
      ),
    );

    expect(types).toEqual([
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
      'image/svg+xml',
      'image/svg+xml',
    ]);
  });

  it('has no inline style or script, which the policy would forbid', async () => {
    const page = await pageWith({});

    expect(page).not.toMatch(/ style=| on\w+=|<style|<script(?! type="module" src="\.\/assets\/page\.js"><\/script>)/);
  });
});

function givenPage(
  fleet: FleetStatus | (() => FleetStatus),
  facts: Partial<ExporterInfo> = {},
  { lastMinute = {}, twin }: { lastMinute?: Readonly<Record<string, LastMinute>>; twin?: TwinStatus } = {},
): FastifyInstance {
  const app = fastify();
  registerStatusPage(app, {
    fleetStatus: typeof fleet === 'function' ? fleet : () => fleet,
    unknownApplianceMessage: (appliance) => `No ${appliance} here.`,
    exporter: () => exporterInfo(facts),
    withCommandName: (text) => text,
    lastMinuteOf: (_, farm) => lastMinute[farm],
    twinOf: () => twin,
    history: givenHistory(),
    now: () => nowMs,
  });
  onTestFinished(() => app.close());
  return app;
}

async function textAt(app: FastifyInstance, url: string): Promise<string> {
  return (await app.inject(url)).payload;
}

/** A page of a fleet with this appliance alone, `lb-1`. */
async function pageWith(
  known: Partial<ApplianceStatus>,
  url = '/',
  facts: Partial<ExporterInfo> = {},
): Promise<string> {
  return await textAt(givenPage(fleetStatus(applianceStatus({ name: 'lb-1', ...known })), facts), url);
}

async function sentence(...appliances: readonly ApplianceStatus[]): Promise<string | undefined> {
  const page = await textAt(givenPage(fleetStatus(...appliances)), '/');
  return /<h1 id="overall-status"[^>]*>([^<]*)<\/h1>/.exec(page)?.[1];
}

function withoutMarkup(page: string): string {
  return page
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The appliances of the table, in its order. */
function rowsOf(page: string): readonly (string | undefined)[] {
  const table = /<table class="appliances">.*?<\/table>/s.exec(page)?.[0] ?? '';
  return [...table.matchAll(/<tr data-key="([^"]+)"/g)].map(([, name]) => name);
}

describe('what clients of a farm see', () => {
  const certificate = {
    commonName: 'shop.test',
    issuer: 'Example CA',
    serial: '01',
    fingerprintSha256: 'ab'.repeat(32),
    notBeforeSeconds: nowMs / 1_000 - 86_400,
    notAfterSeconds: Date.UTC(2027, 1, 3) / 1_000,
    coversName: true,
    intermediates: [],
  };
  const served = { serverName: 'shop.test', failure: undefined, certificate, isInStore: true };
  const address = '192.0.2.40:443';
  const reachable = {
    isReachable: true,
    connectSeconds: 0.0031,
    failure: undefined,
    served: [served],
    address,
    atMs: nowMs,
  };
  const other = { ...served, isInStore: false, certificate: { ...certificate, coversName: false } };
  const issuer = { ...certificate, commonName: 'Example CA', notAfterSeconds: Date.UTC(2026, 11, 24) / 1_000 };
  const chain = { ...served, certificate: { ...certificate, intermediates: [issuer] } };
  const silent = { ...served, certificate: undefined, isInStore: undefined, failure: 'timeout' } as const;
  const refused = {
    isReachable: false,
    connectSeconds: undefined,
    failure: 'refused',
    served: [],
    address,
    atMs: nowMs,
  } as const;
  const unprobed = { ...refused, isReachable: undefined, failure: 'not_allowed' } as const;

  it.each([
    [
      { perSecond: 12.34, failed: 0, p95Seconds: 0.3 },
      '12 requests a second in the last minute, none failed, 95 of 100 within 300 ms',
    ],
    [
      { perSecond: 0.25, failed: 3, p95Seconds: Number.POSITIVE_INFINITY },
      '0.3 requests a second in the last minute, 3 failed, 95 of 100 beyond all bounds',
    ],
    [{ perSecond: 0, failed: 0, p95Seconds: undefined }, '0.0 requests a second in the last minute, none failed'],
  ])('is taken from the request log: %o', async (lastMinute, expected) => {
    const status = applianceStatus({ name: 'lb-1', farms: [farmStatus({ name: 'shop' }), farmStatus({ name: 'db' })] });
    const page = await textAt(
      givenPage(fleetStatus(status), {}, { lastMinute: { shop: lastMinute } }),
      '/?appliance=lb-1',
    );
    const shown = page.match(/<span class="requests">.*?(?=<\/summary>)/g) ?? [];
    const textOf = (part: string) =>
      part
        .replaceAll(/<svg.*?<\/svg>|<[^>]+>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim();
    expect(shown.map(textOf)).toEqual([expected]);
  });

  it.each<[what: string, probe: NonNullable<FarmStatus['probe']>, says: string]>([
    ['reached in a moment', reachable, 'reachable in 4 ms'],
    ['the certificate of the store', reachable, 'serves a certificate until 2027-02-03, the one of the store'],
    [
      'another certificate, which does not cover the name',
      { ...reachable, served: [other] },
      'until 2027-02-03 not the one of the store does not cover the name',
    ],
    [
      'a chain whose intermediate ends before the certificate',
      { ...reachable, served: [chain] },
      'its issuer Example CA until 2026-12-24',
    ],
    ['no certificate', { ...reachable, served: [silent] }, 'no certificate (timeout)'],
    ['nothing', refused, 'not reachable from here (refused)'],
    ['not known', unprobed, 'not probed'],
  ])('is shown as %s', async (_, probe, says) => {
    const page = await pageWith({ farms: [farmStatus({ name: 'shop', probe })] }, '/?appliance=lb-1');

    expect(withoutMarkup(/(?<=<details.*)<p class="facts">.*?<\/p>/s.exec(page)?.[0] ?? '')).toContain(says);
  });

  it.each([
    [29, ['shop'], 'well'],
    [13, ['shop'], 'warning'],
    [2, ['shop'], 'critical'],
    [-1, ['shop'], 'critical'],
    [13, [], 'well'],
    [2, [], 'warning'],
    [-1, [], 'warning'],
    [13, undefined, 'unknown'],
    [2, undefined, 'warning'],
  ])(
    'has for a certificate with %s days left, used by %j, a bar as bad as its problem: %s',
    async (days, usedBy, level) => {
      const notAfterSeconds = nowMs / 1_000 + days * 86_400;
      const dates = { notAfterSeconds, notBeforeSeconds: notAfterSeconds - 365 * 86_400 };
      const given = { certificates: [certificateStatus({ file: 'a.pem', usedBy, ...dates })] };
      const problems = applianceProblems(applianceStatus({ name: 'lb-1', ...given }), nowMs);

      expect(await pageWith(given)).toContain(`class="bar ${level}"`);
      expect(problems.map((problem) => problem.level)).toEqual(level === 'well' ? [] : [level]);
    },
  );

  it('says when its farms were last known, if they are unknown now', async () => {
    const lastKnownUse = { farms: ['shop'], readMs: nowMs - 40 * minuteMs };
    const page = await pageWith({
      certificates: [certificateStatus({ file: 'a.pem', usedBy: undefined, lastKnownUse })],
    });

    expect(page).toMatch(/was used by <a [^>]*><bdi>shop<\/bdi><\/a> 40 min ago/);
  });

  it('says for a certificate which farms still serve an older one', async () => {
    const certificates = [certificateStatus({ file: 'shop.pem', servedBy: ['mail'], notServedBy: ['shop', 'portal'] })];

    const page = await pageWith({ certificates });

    expect(page.replaceAll(/<[^>]+>/g, '')).toContain('seen served by mail · not served yet by shop, portal');
  });
});
