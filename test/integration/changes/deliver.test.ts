import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShownChange } from '../../../src/admin/changes/change.ts';
import type { Identity } from '../../../simulator/certificate.ts';
import type { World } from '../../../simulator/world.ts';
import { givenFolder } from '../../support/folder.ts';
import { until } from '../../support/until.ts';
import { fileOf, httpsFarm, isNew, worldWith } from '../deliver/given-deliver.ts';
import { issue } from '../../support/issue.ts';
import { givenApprovals } from './given-approvals.ts';

const expiring = { alertname: 'ZlbCertificateExpirySoon', appliance: 'lb-1', file: 'old.pem' };

/** A gateway with a folder of renewed certificates, and an Alertmanager that posts alerts. */
async function givenRenewals(world: World, renewed: Readonly<Record<string, string>>) {
  const folder = givenFolder();
  const put = async (file: string, text: string): Promise<void> => {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(renewed)) await put(file, text);
  const approvals = { requiredFor: [], certificatesFolder: folder };
  const given = await givenApprovals({ approvals }, { 'lb-1': world });
  const tell = () =>
    given.call('alertmanager', 'POST', '/alerts', {
      version: '4',
      alerts: [{ status: 'firing', labels: expiring, startsAt: '2026-11-24T01:00:00Z' }],
    });
  const proposal = async () => {
    const changes = async () =>
      (await given.call('root', 'GET', '/changes')).json?.changes as readonly { id: string; title: string }[];
    return (await until(changes, (all) => all.length === 1))[0]!;
  };
  return { ...given, put, tell, proposal };
}

const certbot = ({ cert, key }: Identity) => ({ 'shop/fullchain.pem': cert, 'shop/privkey.pem': key });

describe('an expiring certificate, with a newer one in the folder', () => {
  it('is replaced once a person has approved the delivery', async () => {
    const world = worldWith();
    const renewed = issue();
    const { tell, proposal, approve, ended, sent, read, logged, audit } = await givenRenewals(world, certbot(renewed));

    const told = await tell();
    const { id, title } = await proposal();
    const before = [...fileOf(world)];
    const { plan } = (await read(id)) as unknown as ShownChange;
    const back = plan.steps.flatMap(({ way_back: calls = [] }) => calls);
    await approve('root', id);
    const over = await ended(id);

    expect(told.json).toEqual({ proposed: 1, withdrawn: 0, ignored: 0 });
    expect(title).toBe('deliver certificate=old.pem');
    expect(before).toEqual(['old.pem']);
    expect(plan.facts.join(' ')).toMatch(
      /shop\/fullchain\.pem is for shop\.example\.com .* old\.pem stays in the store/,
    );
    expect(back.map(({ operation }) => operation)).toContain('removeFarmCertificate');
    expect(over).toMatchObject({ state: 'done' });
    expect(fileOf(world)).toEqual([isNew]);
    expect(world.certificates.has('old.pem')).toBe(true);
    expect(httpsFarm(world, 'shop').needsRestart).toBe(false);
    expect(sent()).toHaveLength(4);
    const key = renewed.key.split('\n')[1]!;
    expect(JSON.stringify([over, await audit()]) + logged.join('')).not.toContain(key);
  });

  it('needs another approval when the folder has changed by then', async () => {
    const world = worldWith();
    const { put, tell, proposal, approve, read } = await givenRenewals(world, certbot(issue()));
    await tell();
    const { id } = await proposal();
    const again = issue({ until: 95 });
    await put('shop/fullchain.pem', again.cert);
    await put('shop/privkey.pem', again.key);

    const answer = await approve('root', id);

    expect(answer).toMatchObject({ status: 409, json: { code: 'plan_changed' } });
    expect(await read(id)).toMatchObject({ state: 'proposed' });
    expect(fileOf(world)).toEqual(['old.pem']);
  });
});

it('a viewer gets no delivery plan, and learns nothing of the folder', async () => {
  const { ask, appliance } = await givenRenewals(worldWith(), { 'customer/fullchain.pem': 'no PEM' });

  const { json, text } = await ask('dave', { recipe: 'deliver', parameters: { certificate: 'old.pem' } });

  expect(json?.code).toBe('role_too_low');
  expect(text).not.toContain('customer');
  expect(appliance.requests).toEqual([]);
});
