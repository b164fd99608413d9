import { describe, expect, it } from 'vitest';
import { backupsCollector } from '../../../src/collectors/backups.ts';
import { clusterCollector } from '../../../src/collectors/cluster.ts';
import { connectionsCollector } from '../../../src/collectors/connections.ts';
import { ipdsCollector } from '../../../src/collectors/ipds.ts';
import { letsencryptCollector } from '../../../src/collectors/letsencrypt.ts';
import { packagesCollector } from '../../../src/collectors/packages.ts';
import { vpnCollector } from '../../../src/collectors/vpn.ts';
import { collectFrom, refusal } from './given-replies.ts';

/** The value of the one series that is 1 in a set with these labels. */
const stateIn = (text: string, labels: string) =>
  new RegExp(`\\{appliance="lb",${labels},status="(\\w+)"\\} 1$`, 'm').exec(text)?.[1];

it('the backups collector counts backups and finds the newest, in any order', async () => {
  const list = [
    { name: 'weekly', date: '2026-11-06  03:00:01 UTC', version: '7.8.0' },
    { name: 'newest', date: '2026-11-20  20:52:06 UTC' },
    { name: 'odd', date: 'yesterday' },
    { name: 'bare' },
  ];

  const collected = await collectFrom(backupsCollector, { listBackups: { params: list } });

  expect(collected.text).toBe(
    `zlb_backups{appliance="lb"} 4\nzlb_backup_last_timestamp_seconds{appliance="lb"} ${Date.UTC(2026, 10, 20, 20, 52, 6) / 1_000}\n`,
  );
});

it.each([
  [{ status: 'Updates available', number: '12' }, 12],
  [{ status: 'Updated', number: 0 }, 0],
  [{ number: 3 }, 3],
  [{ status: 'unknown', number: 0 }, undefined],
  [{ status: 'Updated' }, undefined],
])('the packages collector writes %j as %s', async (params, value) => {
  const { text } = await collectFrom(packagesCollector, { listPackages: { params } });

  expect(text).toBe(value === undefined ? '' : `zlb_packages_pending{appliance="lb"} ${value}\n`);
});

it('the connections collector writes the size of the connection table, and nothing if it is missing', async () => {
  const of = async (params: object) =>
    (await collectFrom(connectionsCollector, { readConnectionStats: { params } })).text;

  expect([await of({ connections: '324' }), await of({ connections: 0 }), await of({ connections: '' })]).toEqual([
    'zlb_connections{appliance="lb"} 324\n',
    'zlb_connections{appliance="lb"} 0\n',
    '',
  ]);
});

it('the VPN collector writes one state for each VPN', async () => {
  const list = [
    { name: 'office', profile: 'site_to_site', status: 'route down' },
    { name: 'lab', status: 'needed restart' },
    { name: 'new', status: 'reticulating' },
    { name: 'quiet', status: '' },
    { name: 'bare' },
  ];

  const { text } = await collectFrom(vpnCollector, { listVpns: { params: list } });

  expect(list.map(({ name }) => stateIn(text, `vpn="${name}"`))).toEqual([
    'route_down',
    'needed_restart',
    'unknown',
    'unknown',
    'unknown',
  ]);
});

it.each([
  [
    { name: 'lb-a', role: 'master', status: 'ok', message: 'Node online and active' },
    'node="lb-a",role="master"',
    'ok',
  ],
  [
    { name: 'lb-b', role: 'not configured', status: 'not configured' },
    'node="lb-b",role="not_configured"',
    'not_configured',
  ],
  [{ name: 'lb-c', role: 'backup', status: 'resting' }, 'node="lb-c",role="backup"', 'unknown'],
  [{ status: '' }, 'node="",role="unknown"', 'unknown'],
])('the cluster collector writes %j', async (params, labels, status) => {
  const { text } = await collectFrom(clusterCollector, { readLocalClusterNode: { params } });

  expect(stateIn(text, labels)).toBe(status);
});

describe('the ACME collector', () => {
  const live = '/usr/local/skudonet/config/letsencrypt/live';
  const renewed = { status: 'enabled', farm: 'webshop', vip: null, force: 'false', restart: 'true' };
  const list = [
    { file: `${live}/le.example.com/fullchain.pem`, type: 'LE Certificate', autorenewal: renewed },
    {
      file: `${live}/www.example.org/fullchain.pem`,
      autorenewal: { status: 'enabled', farm: null, vip: '192.0.2.40', restart: 'false' },
    },
    {
      file: `${live}/off.example.org/fullchain.pem`,
      autorenewal: { status: 'disabled', farm: null, vip: null, force: null, restart: null },
    },
    { file: `${live}/never.example.org/fullchain.pem`, autorenewal: null },
    { file: 'flat.pem' },
  ];
  const written = [
    'file="le_example_com.pem",autorenewal="true",mode="farm",restart="true"',
    'file="www_example_org.pem",autorenewal="true",mode="vip",restart="false"',
    'file="off_example_org.pem",autorenewal="false",mode="unknown",restart="false"',
    'file="never_example_org.pem",autorenewal="false",mode="unknown",restart="false"',
    'file="flat.pem",autorenewal="false",mode="unknown",restart="false"',
  ]
    .map((labels) => `zlb_letsencrypt_certificate_info{appliance="lb",${labels}} 1\n`)
    .join('');

  it('names each certificate as the store does, with its automatic renewal', async () => {
    const collected = await collectFrom(letsencryptCollector, { listAcmeCertificates: { params: list } });

    expect(collected.text).toBe(written);
    expect(collected.asked).toEqual(['listAcmeCertificates']);
  });

  it('reads the older path when the newer one is missing', async () => {
    const collected = await collectFrom(letsencryptCollector, { listLegacyAcmeCertificates: { params: list } });

    expect(collected.text).toBe(written);
  });

  it('does not try the older path after another failure', async () => {
    const replies = { listAcmeCertificates: refusal('unlicensed'), listLegacyAcmeCertificates: { params: list } };

    await expect(collectFrom(letsencryptCollector, replies)).rejects.toMatchObject({ reason: 'unlicensed' });
  });

  it('writes nothing when the key may not read the certificates', async () => {
    const { data, text } = await collectFrom(letsencryptCollector, { listAcmeCertificates: refusal('forbidden') });

    expect([data, text]).toEqual([undefined, '']);
  });
});

it('the IPDS collector writes the state of each rule, even if the release does not name it', async () => {
  const list = [{ name: 'flood', rule: 'dos', status: 'up', type: 'farm' }, { name: 'older' }];

  const { text } = await collectFrom(ipdsCollector, { listIpds: { params: list } });

  expect(stateIn(text, 'rule="flood",kind="dos"')).toBe('up');
  expect(stateIn(text, 'rule="older",kind=""')).toBe('unknown');
});

it('a list without entries produces no series except the number of backups', async () => {
  const texts = [
    await collectFrom(backupsCollector, { listBackups: { params: [] } }),
    await collectFrom(vpnCollector, { listVpns: { params: [] } }),
    await collectFrom(letsencryptCollector, { listAcmeCertificates: { params: [] } }),
    await collectFrom(ipdsCollector, { listIpds: { params: [] } }),
  ].map(({ text }) => text);

  expect(texts).toEqual(['zlb_backups{appliance="lb"} 0\n', '', '', '']);
});
