import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { givenFolder } from '../../support/folder.ts';
import { givenGateway } from '../../support/given-gateway.ts';
import { startHttpsServer } from '../../support/tls-server.ts';
import { targetOf } from './given-target.ts';

const actions = '/appliances/lb-1/farms/shop/actions';
const stop = { json: { action: 'stop' } };

/** Reads at once, while others write. */
function lastLine(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare('SELECT line FROM records ORDER BY number DESC LIMIT 1').get();
  database.close();
  return String(row?.line ?? '');
}

describe('the intent of a change', () => {
  it('is on disk when the call arrives, and its outcome when the caller has the response', async () => {
    const journalFile = join(givenFolder(), 'journal.db');
    const onArrival: string[] = [];
    const server = await startHttpsServer((response) => {
      onArrival.push(lastLine(journalFile));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":"done"}');
    });
    const { call, auditText } = await givenGateway({}, { target: targetOf(server), admin: { journalFile } });

    const answer = await call('POST', '/appliances/lb-1/system/backup', {
      json: { name: 'b1' },
      as: 'operator',
      headers: { 'x-reason': 'Umzug nach K%C3%B6ln' },
    });

    const lastOf = (text = '') => JSON.parse(text.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
    const intent = lastOf(onArrival.at(-1));
    expect(intent).toEqual({
      seq: 2,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      event: 'intent',
      body: { name: 'b1' },
      body_sha256: expect.stringMatching(/^[\da-f]{64}$/),
      request: answer.headers['x-request-id'],
      principal: 'operator',
      address: '127.0.0.1',
      role: 'operator',
      appliance: 'lb-1',
      operation: 'createBackup',
      method: 'POST',
      path: '/system/backup',
      reason: 'Umzug nach Köln',
      prev: expect.stringMatching(/^[\da-f]{64}$/),
      hash: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(lastOf(await auditText())).toMatchObject({
      event: 'outcome',
      status: 200,
      received_bytes: 18,
      sent_bytes: 13,
      request: intent.request,
      prev: intent.hash,
    });
  });

  it('records the size and digest of an upload, as the outcome does', async () => {
    const { call, audit } = await givenGateway({ 'lb-1': busyWorld() });
    const archive = Buffer.alloc(300_000, 'H4sIAAAAAAAAAwMAAAAAAAAAAAA=');

    await call('PUT', '/appliances/lb-1/system/backup/x1', { body: archive, type: 'application/gzip' });

    const sha256 = createHash('sha256').update(archive).digest('hex');
    expect(await audit()).toEqual([
      expect.objectContaining({ event: 'intent', body: { bytes: archive.length, sha256 } }),
      expect.objectContaining({ event: 'outcome', sent_bytes: archive.length, sent_sha256: sha256 }),
    ]);
  });
});

describe('the audit of a call', () => {
  it('has no line for a plain read, and two lines for a read of secrets', async () => {
    const { call, audit } = await givenGateway({ 'lb-1': busyWorld() });

    await call('GET', '/appliances/lb-1/farms');
    await call('GET', '/appliances/lb-1/farms/nowhere');
    await call('GET', '/whoami');
    const before = await audit();
    await call('GET', '/appliances/lb-1/certificates/shop_example_com.pem');

    expect(before).toEqual([]);
    expect(await audit()).toEqual([
      expect.objectContaining({ event: 'intent', operation: 'downloadCertificate' }),
      expect.objectContaining({ event: 'outcome', status: 200 }),
    ]);
  });

  it('names the overridden guards and the reason', async () => {
    const { call, audit, appliance, metrics } = await givenGateway({ 'lb-1': busyWorld() });
    const start = { json: { action: 'start' } };

    const refused = await call('PUT', actions, start);
    const reasonless = await call('PUT', actions, { ...start, headers: { 'x-force': 'true' } });
    const forced = await call('PUT', actions, {
      ...start,
      headers: { 'x-force': 'true', 'x-reason': 'proxy is stuck' },
    });

    expect([refused, reasonless, forced].map(({ status }) => status)).toEqual([409, 400, 200]);
    expect(refused.json).toMatchObject({
      code: 'guarded',
      findings: expect.arrayContaining([expect.objectContaining({ guard: 'hard_restart', severity: 'blocking' })]),
    });
    expect(await audit()).toEqual([
      expect.objectContaining({ event: 'denied', code: 'guarded' }),
      expect.objectContaining({ event: 'denied', code: 'reason_required' }),
      expect.objectContaining({ event: 'intent', forced: ['hard_restart'], reason: 'proxy is stuck' }),
      expect.objectContaining({ event: 'outcome', status: 200 }),
    ]);
    expect(appliance.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    expect(await metrics()).toContain(
      'zlb_admin_guards_overridden_total{appliance="lb-1",guard="hard_restart",by="force"} 1\n',
    );
  });

  it('has one line for a dry run, which changes nothing', async () => {
    const { call, audit, appliance } = await givenGateway({ 'lb-1': busyWorld() });

    const plan = await call('DELETE', '/appliances/lb-1/farms/shop', {
      headers: { 'x-dry-run': 'true', 'x-reason': 'just looking' },
    });
    await call('GET', '/appliances/lb-1/farms', { headers: { 'x-dry-run': 'true' } });

    expect(plan.json).toMatchObject({ dry_run: true, would: 'be refused' });
    expect(appliance.world.farms.has('shop')).toBe(true);
    expect(await audit()).toEqual([
      expect.objectContaining({ event: 'dry_run', operation: 'deleteFarm', reason: 'just looking' }),
    ]);
  });
});

it('the gateway permits only plain reads while the audit cannot be written', async () => {
  const { call, appliance, metrics, logged } = await givenGateway(
    { 'lb-1': busyWorld() },
    { admin: { journalFile: '/dev/full' } },
  );

  const change = await call('PUT', actions, stop);
  const secret = await call('GET', '/appliances/lb-1/certificates/shop_example_com.pem');
  const discovery = await call('GET', '/appliances/lb-1/parameters?operation=actOnFarm&farmname=shop');
  const search = await call('GET', '/audit');
  const read = await call('GET', '/appliances/lb-1/farms/shop/status');
  const denied = await call('PUT', actions, { ...stop, as: 'viewer' });

  // A refusal needs no audit to be one; what is lost of it is in the log.
  expect(denied.status).toBe(403);
  for (const answer of [change, secret, discovery, search]) {
    expect(answer.json).toMatchObject({
      status: 503,
      code: 'audit_unavailable',
      remedy: expect.stringMatching(/journal_file/),
    });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(read.status).toBe(200);
  expect(appliance.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /system/version',
    'GET /farms/shop/status',
  ]);
  expect(await metrics()).toMatch(/^zlb_admin_audit_write_failures_total [1-9]/m);
  expect(logged.join('')).toContain('journal cannot be written');
});
