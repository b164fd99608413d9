import { byFile, byName, createWorld } from '../world-creation.ts';
import type { Farm, HttpBackend, HttpFarm, HttpSettings, Service } from '../world-farms.ts';
import type { StoredCertificate } from '../world-certificates.ts';
import {
  certificate,
  csr,
  farmguardian,
  httpBackend,
  httpFarm,
  l4Backend,
  l4Farm,
  networkInterface,
  service,
} from '../world-parts.ts';
import type { NetworkInterface, World } from '../world.ts';
import { l4, main, shopHttp, template, templates, web } from './recorded.ts';

/** Makes the ZEVENET appliance of the recordings, zevenet-ce-01, in the state of its recorded reads. */
export function recordedZevenetWorld(): World {
  return createWorld({
    release: 'older',
    product: 'zevenet',
    proxy: 'zproxy',
    hostname: 'zevenet-ce-01',
    productVersion: '5.13.0',
    applianceVersion: 'ZCE 5',
    kernelVersion: '6.1.0-18-amd64',
    interfaces: byName(
      interfaces(['56:bc:bd:2d:7d:2d', '5e:bc:08:b1:f3:df', '8a:1b:1a:e1:1a:0b'], [0.2, 0.3, 0.19, 0.21]),
    ),
    certificates: byFile([
      stored('expired_example_com.pem', '2026-08-30T17:51:12Z', '2026-11-25T17:51:12Z'),
      stored('expiring_example_com.pem', '2026-10-29T17:51:11Z', '2026-12-03T17:51:11Z'),
      certificate('garbage.pem', { notBefore: 0, notAfter: 0, condition: 'garbage' }),
      csr('newsite.csr', 'new.example.com', Date.parse('2026-11-28T18:05:03Z')),
      stored('shop_example_com.pem', '2026-10-29T17:51:08Z', '2027-02-16T17:51:08Z'),
      { ...stored('zencert.pem', '2017-11-15T15:35:51Z', '2027-11-13T15:35:51Z'), commonName: '*', issuer: '*' },
    ]),
    farmguardians: byName([dbTcp, shopHttp, ...templates(), template('check_common', '', '')]),
    farms: byName(farms(zproxy)),
    backups: byName([{ name: 'before-change', createdAt: Date.parse('2026-11-28T18:08:13Z'), version: '5.13.0' }]),
    // Never set.
    settings: { snmpCommunity: undefined },
  });
}

/** Makes the SKUDONET appliance of the recordings, skudonet-ce-01, in the state of its recorded reads. */
export function recordedSkudonetWorld(): World {
  const sets = new Map([
    ['REQUEST-90-CONFIGURATION', ['webshop']],
    ['REQUEST-913-SCANNER-DETECTION', ['webshop']],
    ['REQUEST-942-APPLICATION-ATTACK-SQLI', ['intranet']],
  ]);
  return createWorld({
    release: 'older',
    product: 'skudonet',
    hostname: 'skudonet-ce-01',
    productVersion: '7.1.0',
    applianceVersion: 'SKD 7',
    kernelVersion: '6.18.44-fc-v669',
    interfaces: byName(
      interfaces(['02:c2:b8:84:8c:82', 'be:2b:d5:dd:e1:58', 'da:cf:1c:cf:24:5d'], [0.22, 0.35, 0.19, 0.23]),
    ),
    certificates: byFile([
      {
        ...stored('expired_example_com.pem', '2025-10-19T13:50:48Z', '2026-10-19T13:50:48Z'),
        commonName: 'old.example.com',
      },
      {
        ...stored('expiring_example_com.pem', '2025-11-28T13:50:48Z', '2026-11-27T13:50:48Z'),
        commonName: 'soon.example.com',
      },
      stored('le_example_com.pem', '2026-11-22T13:53:14Z', '2027-02-20T13:53:14Z'),
      { ...csr('newsite.csr', 'new.example.com', Date.parse('2026-11-23T13:51:30Z')), keyFile: 'newsite.key' },
      stored('shop_example_com.pem', '2026-11-13T13:50:48Z', '2027-02-11T13:50:48Z'),
      { ...stored('skdcert.pem', '2023-07-13T08:00:06Z', '2033-07-13T08:00:06Z'), commonName: '*', issuer: '*' },
    ]),
    acme: byName([{ name: 'le.example.com', domains: ['le.example.com', 'www.le.example.com'] }]),
    farmguardians: byName([
      dbTcp,
      shopHttp,
      ...templates(),
      template('check_common', '', ''),
      template('check_udp_nc', 'nc -vz -w 1 -u HOST PORT', 'Looks for an open UDP port.', 'true'),
    ]),
    farms: byName(farms(pound)),
    ipds: byName(
      wafSets.map((name) => ({
        name,
        rule: 'waf' as const,
        status: name === 'REQUEST-90-CONFIGURATION' || name === 'REQUEST-913-SCANNER-DETECTION' ? 'up' : 'down',
        farms: sets.get(name) ?? [],
      })),
    ),
    backups: byName([{ name: 'before-change', createdAt: Date.parse('2026-11-23T13:52:14Z'), version: '7.1.0' }]),
  });
}

const dbTcp = farmguardian('db-tcp', {
  description: 'TCP check for the db',
  command: 'check_tcp -H HOST -p PORT -t 3',
  interval: 5,
  timeout: 5,
  cut_conns: 'true',
  log: 'true',
});

function stored(file: string, from: string, until: string): StoredCertificate {
  return certificate(file, { notBefore: Date.parse(from), notAfter: Date.parse(until) });
}

/** Returns the interfaces, by their MACs and the MiB that each has received and sent. */
function interfaces(
  [first = '', second = '', third = '']: readonly string[],
  [inFirst = 0, outFirst = 0, inSecond = 0, outSecond = 0]: readonly number[],
): readonly NetworkInterface[] {
  const onEth0 = { mac: first, gateway: '192.168.101.1' };
  const counted = (received: number, sent: number) => ({
    traffic: { received, sent, receivedPerSecond: 0.001, sentPerSecond: 0.001 },
  });
  return [
    networkInterface('eth0', { ...onEth0, type: 'nic', ip: main, ...counted(inFirst, outFirst) }),
    networkInterface('eth0:l4', { ...onEth0, type: 'virtual', ip: l4, parent: 'eth0' }),
    networkInterface('eth0:web', { ...onEth0, type: 'virtual', ip: web, parent: 'eth0' }),
    networkInterface('eth1', { type: 'nic', ip: '10.10.10.2', mac: second, ...counted(inSecond, outSecond) }),
    networkInterface('eth2', { type: 'nic', ip: '10.30.0.2', mac: third, ...counted(0, 0) }),
  ];
}

/** How the proxies of the two products differ, and their traffic. */
interface Proxies {
  readonly settings: Partial<HttpSettings>;
  readonly tls: Partial<HttpSettings>;
  readonly needsRestart: boolean;
  readonly priority: number | null;
  readonly session: number;
  readonly established: {
    readonly webshop: number;
    readonly intranet: number;
    readonly db: readonly number[];
    readonly dns: number;
  };
}

const zproxy: Proxies = {
  settings: { rewritelocation: 'enabled-path' },
  tls: {},
  needsRestart: false,
  priority: null,
  session: 0,
  // It counts requests in progress.
  established: { webshop: 0, intranet: 0, db: [3, 0, 0], dns: 16 },
};

const pound: Proxies = {
  settings: { ignore_100_continue: 'ignore' },
  tls: { disable_sslv2: 'true', disable_tlsv1: 'true', disable_tlsv1_3: 'false' },
  needsRestart: true,
  priority: 1,
  session: 1,
  established: { webshop: 3, intranet: 1, db: [1, 0, 2], dns: 20 },
};

/** Returns the farms that both later recordings have. */
function farms(proxies: Proxies): readonly Farm[] {
  return [...httpFarms(proxies), ...l4Farms(proxies)];
}

function httpFarms(proxies: Proxies): readonly Farm[] {
  const { settings, tls, needsRestart } = proxies;
  const own: Readonly<Record<string, Partial<HttpFarm>>> = {
    'secure-shop': { listener: 'https', certificates: ['shop_example_com.pem'] },
    oldportal: { running: false },
    empty: { needsRestart },
  };
  return servicesOf(proxies).map(([name, vport, services]) => {
    const farm = httpFarm({ name, vip: web, vport, services, ...own[name] });
    return { ...farm, settings: { ...farm.settings, ...settings, ...(farm.listener === 'https' && tls) } };
  });
}

/** Returns the HTTP farms in the order of their creation: name, port and services. */
function servicesOf({
  priority,
  session,
  established,
}: Proxies): readonly (readonly [name: string, vport: string, services: Service[]])[] {
  const backend = (id: number, host: number, parts: Partial<HttpBackend> = {}, port = 8080) =>
    httpBackend(id, `10.10.10.${host}`, port, { priority, ...parts });
  const [down, farmguardian] = [{ status: 'down' } as const, 'shop-http'];
  const frontend = service('frontend', {
    urlp: '^/[a-h]',
    persistence: 'IP',
    farmguardian,
    backends: [backend(0, 11), backend(1, 12, { established: established.webshop })],
    sessions: [{ client: '192.168.101.1', backend: session }],
  });
  const secure = [backend(0, 16), backend(1, 17, { status: 'maintenance' })];
  const intranet = [backend(0, 19, { established: established.intranet }), backend(1, 20)];
  const legacy = [backend(0, 18, down), backend(1, 18, down, 8443)];
  return [
    ['webshop', '80', [frontend, service('api', { farmguardian, backends: [backend(0, 13), backend(1, 15, down)] })]],
    ['secure-shop', '443', [service('secure', { farmguardian, backends: secure })]],
    ['legacy', '8081', [service('main', { farmguardian: 'check_tcp', backends: legacy })]],
    ['oldportal', '8082', [service('main', { backends: [backend(0, 14, { status: 'undefined' })] })]],
    ['redirector', '8083', [service('redir', { redirect: 'https://www.example.com/', redirecttype: 'default' })]],
    ['empty', '8084', [service('pending')]],
    ['intranet', '8085', [service('main', { farmguardian, backends: intranet })]],
  ];
}

function l4Farms({ session, established: { db, dns } }: Proxies): readonly Farm[] {
  return [
    l4Farm({
      name: 'db-l4',
      vip: l4,
      vport: '5432',
      farmguardian: 'db-tcp',
      backends: [
        l4Backend(0, '10.10.10.11', 5432, { weight: 2, established: db[0] ?? 0 }),
        l4Backend(1, '10.10.10.12', 5432, { established: db[1] ?? 0 }),
        l4Backend(2, '10.10.10.13', 5432, { weight: 3, max_conns: 100, established: db[2] ?? 0 }),
        l4Backend(3, '10.10.10.14', 5432, { status: 'down' }),
      ],
    }),
    l4Farm({
      name: 'dns-udp',
      vip: l4,
      vport: '53',
      protocol: 'udp',
      backends: [
        l4Backend(0, '10.10.10.11', 53, { established: dns }),
        l4Backend(1, '10.10.10.12', 53, { status: 'maintenance' }),
      ],
    }),
    l4Farm({
      name: 'multi-l4',
      vip: l4,
      vport: '9000:9005,9999',
      persistence: 'ip',
      ttl: 300,
      farmguardian: 'check_tcp',
      backends: [11, 12].map((host, id) =>
        l4Backend(id, `10.10.10.${host}`, 9000, { established: id === 1 - session ? 1 : 0 }),
      ),
      sessions: [{ client: '192.168.101.1', backend: 1 - session, type: 'dynamic', ttlMs: 297_244 }],
    }),
    l4Farm({
      name: 'all-l4',
      vip: main,
      vport: '*',
      protocol: 'all',
      running: false,
      backends: [l4Backend(0, '10.10.10.14', '')],
    }),
  ];
}

const wafSets: readonly string[] = [
  'REQUEST-90-CONFIGURATION',
  'REQUEST-901-INITIALIZATION',
  'REQUEST-903.9001-DRUPAL-EXCLUSION-RULES',
  'REQUEST-903.9002-WORDPRESS-EXCLUSION-RULES',
  'REQUEST-903.9003-NEXTCLOUD-EXCLUSION-RULES',
  'REQUEST-903.9004-DOKUWIKI-EXCLUSION-RULES',
  'REQUEST-903.9005-CPANEL-EXCLUSION-RULES',
  'REQUEST-903.9006-XENFORO-EXCLUSION-RULES',
  'REQUEST-905-COMMON-EXCEPTIONS',
  'REQUEST-910-IP-REPUTATION',
  'REQUEST-911-METHOD-ENFORCEMENT',
  'REQUEST-912-DOS-PROTECTION',
  'REQUEST-913-SCANNER-DETECTION',
  'REQUEST-920-PROTOCOL-ENFORCEMENT',
  'REQUEST-921-PROTOCOL-ATTACK',
  'REQUEST-922-MULTIPART-ATTACK',
  'REQUEST-930-APPLICATION-ATTACK-LFI',
  'REQUEST-931-APPLICATION-ATTACK-RFI',
  'REQUEST-932-APPLICATION-ATTACK-RCE',
  'REQUEST-933-APPLICATION-ATTACK-PHP',
  'REQUEST-934-APPLICATION-ATTACK-NODEJS',
  'REQUEST-941-APPLICATION-ATTACK-XSS',
  'REQUEST-942-APPLICATION-ATTACK-SQLI',
  'REQUEST-943-APPLICATION-ATTACK-SESSION-FIXATION',
  'REQUEST-944-APPLICATION-ATTACK-JAVA',
  'REQUEST-949-BLOCKING-EVALUATION',
  'RESPONSE-950-DATA-LEAKAGES',
  'RESPONSE-951-DATA-LEAKAGES-SQL',
  'RESPONSE-952-DATA-LEAKAGES-JAVA',
  'RESPONSE-953-DATA-LEAKAGES-PHP',
  'RESPONSE-954-DATA-LEAKAGES-IIS',
  'RESPONSE-959-BLOCKING-EVALUATION',
  'RESPONSE-980-CORRELATION',
];
