import type {
  DatalinkBackend,
  DatalinkFarm,
  GslbFarm,
  HttpBackend,
  HttpFarm,
  HttpSettings,
  L4Backend,
  L4Farm,
  Service,
} from './world-farms.ts';
import type { Farmguardian, NetworkInterface } from './world.ts';
import type { StoredCertificate } from './world-certificates.ts';

const httpSettings: HttpSettings = {
  contimeout: 20,
  restimeout: 45,
  reqtimeout: 30,
  resurrectime: 21,
  rewritelocation: 'enabled',
  httpverb: 'MSRPCext',
  logs: 'false',
  ignore_100_continue: 'false',
  error414: 'The address is too long.',
  error500: 'Something went wrong here.',
  error501: 'This verb is not served.',
  error503: 'No server can answer now.',
  ciphers: 'all',
  cipherc: 'ALL',
  disable_sslv2: 'false',
  disable_sslv3: 'true',
  disable_tlsv1: 'false',
  disable_tlsv1_1: 'false',
  disable_tlsv1_2: 'false',
};

const started = { running: true, needsRestart: false, runState: 'readable' } as const;

/** Makes a running HTTP farm with the settings of a new one; `parts` replaces them. */
export function httpFarm(parts: Pick<HttpFarm, 'name' | 'vip' | 'vport'> & Partial<HttpFarm>): HttpFarm {
  return {
    profile: 'http',
    ...started,
    listener: 'http',
    configError: undefined,
    settings: { ...httpSettings },
    certificates: [],
    services: [],
    ...parts,
  };
}

/** Makes a service as it is after its creation: no backends, no persistence. */
export function service(id: string, parts: Partial<Omit<Service, 'id'>> = {}): Service {
  return {
    id,
    vhost: '',
    urlp: '',
    redirect: '',
    redirecttype: '',
    persistence: '',
    ttl: 120,
    sessionid: '',
    leastresp: 'false',
    httpsb: 'false',
    farmguardian: null,
    backends: [],
    sessions: [],
    ...parts,
  };
}

/** Makes a backend of an HTTP service that is up. */
export function httpBackend(id: number, ip: string, port: number, parts: Partial<HttpBackend> = {}): HttpBackend {
  return { id, ip, port, status: 'up', established: 0, pending: 0, timeout: null, weight: null, priority: 1, ...parts };
}

/** Makes a running L4xNAT farm with the settings of a new one. */
export function l4Farm(parts: Pick<L4Farm, 'name' | 'vip' | 'vport'> & Partial<L4Farm>): L4Farm {
  return {
    profile: 'l4xnat',
    ...started,
    protocol: 'tcp',
    nattype: 'nat',
    algorithm: 'weight',
    persistence: '',
    ttl: 60,
    farmguardian: null,
    backends: [],
    sessions: [],
    ...parts,
  };
}

/** Makes a backend of an L4xNAT farm that is up. */
export function l4Backend(id: number, ip: string, port: number | '', parts: Partial<L4Backend> = {}): L4Backend {
  return { id, ip, port, status: 'up', established: 0, pending: 0, weight: 1, priority: 1, max_conns: 0, ...parts };
}

/** Makes a running datalink farm. Only older releases and the Enterprise Edition have them. */
export function datalinkFarm(
  parts: Pick<DatalinkFarm, 'name' | 'vip' | 'vport'> & Partial<DatalinkFarm>,
): DatalinkFarm {
  return {
    profile: 'datalink',
    ...started,
    algorithm: 'weight',
    backends: [],
    ...parts,
  };
}

/** Makes a backend of a datalink farm that is up. */
export function datalinkBackend(
  id: number,
  ip: string,
  nic: string,
  parts: Partial<DatalinkBackend> = {},
): DatalinkBackend {
  return { id, ip, interface: nic, status: 'up', established: 0, pending: 0, weight: 1, priority: 1, ...parts };
}

/** Makes a running GSLB farm. */
export function gslbFarm(parts: Pick<GslbFarm, 'name' | 'vip' | 'vport'> & Partial<GslbFarm>): GslbFarm {
  return {
    profile: 'gslb',
    ...started,
    services: [],
    counters: { client: { reqs: 0 }, server: { reqs: 0 }, extended: { noerror: 0, nxdomain: 0 } },
    ...parts,
  };
}

/** Makes a certificate that loads with its key. Dates are milliseconds. */
export function certificate(
  file: string,
  parts: Partial<StoredCertificate> & Pick<StoredCertificate, 'notBefore' | 'notAfter'>,
): StoredCertificate {
  return {
    file,
    type: 'Certificate',
    commonName: file.replace(/\.pem$/, '').replaceAll('_', '.'),
    issuer: 'Example Test CA',
    condition: 'good',
    pem: '',
    ...parts,
  };
}

/** Makes a certificate request, which has no issuer and no end. */
export function csr(file: string, commonName: string, createdAt: number): StoredCertificate {
  return certificate(file, { type: 'CSR', commonName, issuer: 'NA', notBefore: createdAt, notAfter: undefined });
}

/** Makes an interface that is up. */
export function networkInterface(
  name: string,
  parts: Partial<NetworkInterface> & Pick<NetworkInterface, 'type' | 'ip' | 'mac'>,
): NetworkInterface {
  return { name, netmask: '255.255.255.0', gateway: '', status: 'up', alias: null, ...parts };
}

/** Makes a health check as it is after its creation. */
export function farmguardian(name: string, parts: Partial<Farmguardian> = {}): Farmguardian {
  return {
    name,
    description: '',
    command: '',
    interval: 10,
    timeout: 10,
    cut_conns: 'false',
    log: 'false',
    backend_alias: 'false',
    template: false,
    ...parts,
  };
}
