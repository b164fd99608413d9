import { describe, expect, it } from 'vitest';
import { activation } from '../../../src/collectors/activation.ts';
import { appliance } from '../../../src/collectors/appliance.ts';
import { backends } from '../../../src/collectors/backends.ts';
import { certificates } from '../../../src/collectors/certificates.ts';
import { farmConfig } from '../../../src/collectors/farm-config.ts';
import { farms } from '../../../src/collectors/farms.ts';
import { interfaces } from '../../../src/collectors/interfaces.ts';
import { collectFarmFrom, collectFrom, refusal } from './given-replies.ts';

const shop = { name: 'shop', profile: 'https', status: 'up' };

describe('what a reading of the farms says as data', () => {
  it('is all that the list says, in the words of the metrics', async () => {
    const farm = {
      farmname: 'shop',
      profile: 'https',
      status: 'needed restart',
      vip: '192.0.2.20',
      vport: 443,
      established: '120',
      pending: '2',
    };

    const { findings } = await collectFrom(farms, { listFarmStats: { farms: [farm] } });

    expect(findings).toEqual({
      farms: [
        {
          name: 'shop',
          profile: 'https',
          state: 'needed_restart',
          vip: '192.0.2.20',
          vport: '443',
          established: 120,
          pending: 2,
        },
      ],
      farmsLeftOut: 0,
    });
  });

  it('makes nothing up where fields are missing, and takes no word that it does not know', async () => {
    const list = [
      { farmname: 'bare' },
      { farmname: 'odd', status: 'dancing', vip: null, vport: '', established: null },
    ];

    const { findings } = await collectFrom(farms, { listFarmStats: { farms: list } });

    expect(JSON.parse(JSON.stringify(findings.farms))).toEqual([
      { name: 'bare', profile: '', state: 'unknown' },
      { name: 'odd', profile: '', state: 'unknown' },
    ]);
  });

  it('is an empty list where there are none, and counts those that are left out', async () => {
    const none = await collectFrom(farms, { listFarmStats: { farms: [] } });
    const leftOut = await collectFrom(
      farms,
      { listFarmStats: { farms: [{ farmname: 'a' }, { farmname: 'b' }] } },
      { watches: (farm) => farm === 'a' },
    );

    expect(none.findings).toEqual({ farms: [], farmsLeftOut: 0 });
    expect(leftOut.findings).toMatchObject({ farms: [{ name: 'a' }], farmsLeftOut: 1 });
  });
});

describe('what a reading of the backends says as data', () => {
  const backend = { id: '0', ip: '198.51.100.11', port: 8080, service: 'front', status: 'up', established: '5' };

  it('has the labels and states of the metrics, in compact mode of all of them', async () => {
    const twin = { ...backend, id: '1', status: 'fgDOWN', established: 0 };

    const { findings } = await collectFarmFrom(
      backends,
      shop,
      { readFarmStats: { backends: [backend, twin, { ip: '::1' }] } },
      { compact: true },
    );

    expect(JSON.parse(JSON.stringify(findings.backends))).toEqual([
      { service: 'front', backend: '198.51.100.11:8080#0', state: 'up', established: 5 },
      { service: 'front', backend: '198.51.100.11:8080#1', state: 'down', established: 0 },
      { service: '', backend: '[::1]', state: 'unknown' },
    ]);
  });

  it('calls none up while the farm is stopped', async () => {
    const stopped = { ...shop, status: 'down' };

    const { findings } = await collectFarmFrom(backends, stopped, { readFarmStats: { backends: [backend] } });

    expect(findings.backends).toMatchObject([{ state: 'unknown' }]);
  });

  it.each([
    ['of a farm that runs: there are none', 'up', [], { backends: [] }],
    ['of a farm that is down: nobody knows', 'down', [], {}],
    ['of a farm that is down, as null: nobody knows', 'down', null, {}],
    ['of a farm of which nobody knows how it is: nobody knows', 'unknown', [], {}],
  ])('takes an empty list %s', async (_, status, list, expected) => {
    const { findings } = await collectFarmFrom(backends, { ...shop, status }, { readFarmStats: { backends: list } });

    expect(findings).toEqual(expected);
  });
});

describe('what a reading of the configuration of a farm says as data', () => {
  const service = (id: string, farmguardian: unknown) => ({ id, farmguardian, backends: [] });
  const read = (readFarm: object, profile = 'https', checks: unknown = { params: [] }) =>
    collectFarmFrom(farmConfig, { ...shop, profile }, { listFarmguardians: checks, readFarm });

  it('names the certificates, and says whether every service has a health check', async () => {
    const certlist = [{ file: 'shop.pem' }, { file: -1 }];
    const whole = await read({
      params: { status: 'up', certlist },
      services: [service('a', 'tcp'), service('b', 'tcp')],
    });
    const part = await read({ params: { status: 'up', certlist }, services: [service('a', 'tcp'), service('b', '')] });

    expect(whole.findings).toEqual({ certificates: ['shop.pem'], hasHealthCheck: true, configuredBackends: [] });
    expect(part.findings).toMatchObject({ certificates: ['shop.pem'], hasHealthCheck: false });
  });

  it('names the backends that are configured, as the metrics name them, and nothing where there is no list', async () => {
    const twin = { ip: '10.0.0.1', port: 80 };
    const services = [
      {
        id: 'front',
        farmguardian: '',
        backends: [
          { ...twin, id: 0 },
          { ...twin, id: 1 },
        ],
      },
    ];
    const params = { status: 'down' };

    expect((await read({ params, services })).findings.configuredBackends).toEqual([
      { service: 'front', backend: '10.0.0.1:80#0' },
      { service: 'front', backend: '10.0.0.1:80#1' },
    ]);
    expect((await read({ params, backends: [twin] }, 'l4xnat')).findings.configuredBackends).toEqual([
      { service: '', backend: '10.0.0.1:80' },
    ]);
    expect((await read({ params })).findings.configuredBackends).toBe(undefined);
  });

  it('says neither of a check nor of a certificate what nobody said', async () => {
    const silent = { params: { status: 'up' }, services: [{ id: 'a', backends: [] }] };

    expect((await read(silent, 'https', refusal('forbidden'))).findings).toEqual({
      hasHealthCheck: undefined,
      configuredBackends: [],
    });
    expect((await read(silent, 'http')).findings, 'plain HTTP presents none').toMatchObject({ certificates: [] });
  });
});

describe('what a reading of the certificates says as data', () => {
  it('has the end of those that have one, and says which cannot be read', async () => {
    const certificate = {
      file: 'shop.pem',
      type: 'Certificate',
      CN: 'shop.example.com',
      issuer: 'Example CA',
      creation: 'Nov  6 00:00:00 2025 GMT',
      expiration: 'Dec  9 23:59:59 2026 GMT',
      status: 'about to expire',
    };
    const request = { file: 'new.csr', type: 'CSR', creation: 'Oct 30 11:02:03 2026 GMT', expiration: 'NA' };
    const broken = { file: 'broken.pem', type: 'Certificate', creation: '-', expiration: '-', status: 'invalid' };

    const { findings } = await collectFrom(certificates, {
      listCertificates: { params: [certificate, request, broken] },
    });

    expect(findings.certificateStore).toEqual([
      {
        file: 'shop.pem',
        kind: 'certificate',
        commonName: 'shop.example.com',
        issuer: 'Example CA',
        state: 'about_to_expire',
        notAfterSeconds: 1_796_860_799,
        isUnreadable: false,
      },
      expect.objectContaining({ file: 'new.csr', kind: 'csr', notAfterSeconds: undefined, isUnreadable: false }),
      expect.objectContaining({ file: 'broken.pem', state: 'invalid', notAfterSeconds: undefined, isUnreadable: true }),
    ]);
  });

  it('is an empty list where there are none', async () => {
    const { findings } = await collectFrom(certificates, { listCertificates: { params: [] } });

    expect(findings).toEqual({ certificateStore: [] });
  });
});

describe('what a reading of the activation says as data', () => {
  const enterprise = { params: { hostname: 'lb', edition: 'enterprise' } };

  it('has its end, its kind and the edition', async () => {
    const { findings } = await collectFrom(activation, {
      readSystemVersion: { params: { hostname: 'lb' } },
      readSystemInfo: enterprise,
      readActivationInfo: { params: { days_to_expire: '1', type: 'temporal' } },
      readActivationCertificate: '    Not After : Jun 24 11:59:58 2027 GMT\n-----BEGIN CERTIFICATE-----\n',
    });

    expect(findings).toEqual({
      activation: { status: 'activated', kind: 'temporal', notAfterSeconds: Date.UTC(2027, 5, 24, 11, 59, 58) / 1_000 },
      edition: 'enterprise',
    });
  });

  it('says deactivated after a 402, and knows no end of what has none', async () => {
    const { findings } = await collectFrom(activation, {
      readSystemVersion: refusal('unlicensed'),
      readActivationInfo: refusal('unlicensed'),
      readActivationCertificate: refusal('not_found'),
    });

    expect(findings).toEqual({ activation: { status: 'deactivated' }, edition: 'enterprise' });
  });
});

describe('what a reading of the appliance and of its interfaces says as data', () => {
  it('leaves out what has no name', async () => {
    const whole = { params: { hostname: 'lb-a', relianoid_version: '7.9.0', edition: 'community' } };

    const known = await collectFrom(appliance, { readSystemInfo: whole });
    const bare = await collectFrom(appliance, { readSystemVersion: { params: { hostname: '' } } });

    expect(known.findings).toEqual({ hostname: 'lb-a', version: '7.9.0', edition: 'community' });
    expect(bare.findings).toEqual({});
  });

  it('takes no state of an interface that it does not know', async () => {
    const { findings } = await collectFrom(interfaces, {
      readNetworkStats: { params: { interfaces: [] } },
      listInterfaces: {
        interfaces: [{ name: 'eth0', status: 'up' }, { name: 'eth1', status: 'odd' }, { name: 'eth2' }],
      },
    });

    expect(findings.interfaces).toEqual([
      { name: 'eth0', state: 'up' },
      { name: 'eth1', state: 'unknown' },
      { name: 'eth2', state: 'unknown' },
    ]);
  });
});
