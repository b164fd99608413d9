import { byFile, byName, createWorld } from '../world-creation.ts';
import type { Farm } from '../world-farms.ts';
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
import type { Farmguardian, NetworkInterface, World } from '../world.ts';
import type { StoredCertificate } from '../world-certificates.ts';

export const web = '192.168.101.21';
export const l4 = '192.168.101.22';
export const main = '192.168.101.20';

export const shopHttp = farmguardian('shop-http', {
  description: 'Expects 200 from the shop.',
  command: 'check_http -I HOST -p PORT -e 200 -t 5',
  interval: 7,
  timeout: 7,
});

/**
 * Makes the Community appliance of the recordings, noid-ce-01, in the state of its recorded reads
 * (000 to 143).
 */
export function recordedWorld(): World {
  return createWorld({
    hostname: 'noid-ce-01',
    kernelVersion: '6.18.44-fc-v657',
    interfaces: byName(interfaces()),
    certificates: byFile(certificates()),
    farmguardians: byName([
      shopHttp,
      farmguardian('db-tcp', {
        description: 'Connects to the database.',
        command: 'check_tcp -H HOST -p PORT -t 3',
        interval: 5,
        timeout: 5,
        cut_conns: 'true',
        log: 'true',
      }),
      ...templates(),
    ]),
    farms: byName([...httpFarms(), ...l4Farms()]),
    backups: byName([{ name: 'before-upgrade', createdAt: Date.parse('2026-11-20T20:52:06Z'), version: '7.9.0' }]),
  });
}

function interfaces(): readonly NetworkInterface[] {
  const onEth0 = { mac: '1e:47:70:c1:17:8d', gateway: '192.168.101.1' };
  return [
    networkInterface('eth0', { ...onEth0, type: 'nic', ip: main, traffic: counted(0.24, 0.2) }),
    networkInterface('eth0:l4', { ...onEth0, type: 'virtual', ip: l4, parent: 'eth0' }),
    networkInterface('eth0:web', { ...onEth0, type: 'virtual', ip: web, parent: 'eth0' }),
    networkInterface('eth1', { type: 'nic', ip: '10.10.10.2', mac: 'a2:43:db:f7:a2:7a', traffic: counted(0.13, 0.18) }),
  ];
}

function certificates(): readonly StoredCertificate[] {
  return [
    certificate('expired_example_com.pem', {
      commonName: 'old.example.com',
      notBefore: Date.parse('2025-10-16T20:49:58Z'),
      notAfter: Date.parse('2026-10-16T20:49:58Z'),
    }),
    certificate('expiring_example_com.pem', {
      commonName: 'soon.example.com',
      notBefore: Date.parse('2025-11-25T20:49:58Z'),
      notAfter: Date.parse('2026-11-25T20:49:58Z'),
    }),
    csr('newsite.csr', 'new.example.com', Date.parse('2026-11-20T20:49:59Z')),
    certificate('noid_ssl_cert.pem', {
      commonName: '*',
      issuer: '*',
      notBefore: Date.parse('2024-04-24T08:05:16Z'),
      notAfter: Date.parse('2034-04-22T08:05:16Z'),
    }),
    certificate('shop_example_com.pem', {
      commonName: 'shop.example.com',
      notBefore: Date.parse('2026-11-10T20:49:58Z'),
      notAfter: Date.parse('2027-02-08T20:49:58Z'),
    }),
    certificate('wildcard.example.org.pem', {
      commonName: '*.example.org',
      notBefore: Date.parse('2026-11-19T20:49:58Z'),
      notAfter: Date.parse('2027-11-19T20:49:58Z'),
    }),
  ];
}

function webshop(): Farm {
  return httpFarm({
    name: 'webshop',
    vip: web,
    vport: '80',
    services: [
      service('frontend', {
        persistence: 'IP',
        farmguardian: 'shop-http',
        backends: [
          httpBackend(0, '10.10.10.11', 8080, { weight: 5, established: 3 }),
          httpBackend(1, '10.10.10.12', 8080, { weight: 2 }),
        ],
        sessions: [{ client: '192.168.101.1', backend: 0 }],
      }),
      service('api', {
        urlp: '^/api',
        farmguardian: 'shop-http',
        backends: [
          httpBackend(0, '10.10.10.13', 8080),
          httpBackend(1, '10.10.10.15', 8080, { timeout: 10, status: 'down' }),
        ],
      }),
    ],
  });
}

function httpFarms(): readonly Farm[] {
  return [
    webshop(),
    httpFarm({
      name: 'secure-shop',
      vip: web,
      vport: '443',
      listener: 'https',
      certificates: ['shop_example_com.pem'],
      services: [
        service('secure', {
          farmguardian: 'shop-http',
          backends: [
            httpBackend(0, '10.10.10.11', 8080, { established: 2 }),
            httpBackend(1, '10.10.10.12', 8080, { status: 'maintenance' }),
          ],
        }),
      ],
    }),
    httpFarm({
      name: 'legacy',
      vip: web,
      vport: '8081',
      services: [
        service('main', {
          farmguardian: 'check_tcp',
          backends: [
            httpBackend(0, '10.10.10.15', 8080, { status: 'down' }),
            httpBackend(1, '10.10.10.15', 8443, { status: 'down' }),
          ],
        }),
      ],
    }),
    // The backends of a stopped farm are shown as `up`.
    httpFarm({
      name: 'oldportal',
      vip: web,
      vport: '8082',
      running: false,
      services: [service('main', { backends: [httpBackend(0, '10.10.10.14', 8080, { status: 'undefined' })] })],
    }),
    httpFarm({
      name: 'redirector',
      vip: web,
      vport: '8083',
      services: [service('redir', { redirect: 'https://www.example.com/', redirecttype: 'default' })],
    }),
    httpFarm({ name: 'empty', vip: web, vport: '8084', needsRestart: true, services: [service('pending')] }),
  ];
}

function l4Farms(): readonly Farm[] {
  return [
    l4Farm({
      name: 'db-l4',
      vip: l4,
      vport: '5432',
      farmguardian: 'db-tcp',
      backends: [
        l4Backend(0, '10.10.10.11', 5432, { weight: 2, established: 4 }),
        l4Backend(1, '10.10.10.12', 5432, { established: 2 }),
        l4Backend(2, '10.10.10.13', 5432, { weight: 3, max_conns: 100 }),
        l4Backend(3, '10.10.10.14', 5432, { status: 'down' }),
      ],
    }),
    l4Farm({
      name: 'dns-udp',
      vip: l4,
      vport: '53',
      protocol: 'udp',
      backends: [l4Backend(0, '10.10.10.11', 53), l4Backend(1, '10.10.10.12', 53, { status: 'maintenance' })],
    }),
    l4Farm({
      name: 'multi-l4',
      vip: l4,
      vport: '9000:9005,9999',
      farmguardian: 'check_tcp',
      backends: [l4Backend(0, '10.10.10.11', 5432, { established: 2 })],
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

/** Returns the templates of checks that all recorded products have. */
export function templates(): readonly Farmguardian[] {
  return [
    template('check_tcp', 'check_tcp -p PORT -H HOST', 'Connects.'),
    template('check_udp', 'nmap -sU -p PORT HOST | grep open', 'Looks for an open UDP port.', 'true'),
    template('check_ldap', 'check_ldap -H HOST -p PORT -t 5', 'Binds to a directory.'),
    template('check_ping', 'check_ping -H HOST -w 2,100% -c 2,100% -p 2', 'Sends two echo requests.', 'true'),
    template('check_ldaps', 'check_ldaps -H HOST -p PORT -t 5', 'Binds to a directory over TLS.'),
    template(
      'check_http_response_string',
      "check_http -I HOST -p PORT -e 200 -s 'string'",
      'Looks for a string in the page.',
    ),
    template('check_redis', 'check_redis -h HOST -p PORT', 'Expects the master.', 'true'),
    template(
      'check_https_response_string',
      "check_http -I HOST -p PORT -S -e 200 -s 'string' -t 5",
      'Looks for a string in the page over TLS.',
    ),
    template('check_pop', 'check_pop -H HOST -p PORT -t 5', 'Speaks POP.'),
    template('check_sip', 'check_sip -R HOST:PORT', 'Speaks SIP.', 'true'),
    template('check_imap', 'check_imap -H HOST -p PORT -t 5', 'Speaks IMAP.'),
    template('check_smtp', "check_smtp -H HOST -p PORT -C 'hello host' -t 5", 'Speaks SMTP.'),
    template('check_https', 'check_http -I HOST -p PORT -e 200 -S -t 5', 'Expects 200 over TLS.'),
    template('check_http', 'check_http -I HOST -p PORT -e 200 -t 5', 'Expects 200.'),
  ];
}

/** Makes a template of a check. */
export function template(name: string, command: string, description: string, cut_conns = 'false'): Farmguardian {
  return farmguardian(name, { command, description, cut_conns, interval: 15, timeout: 15, template: true });
}

function counted(received: number, sent: number) {
  return { received, sent, receivedPerSecond: 0.001, sentPerSecond: 0.001 };
}
