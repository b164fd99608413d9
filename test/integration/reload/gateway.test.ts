import { createServer } from 'node:http';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { CreateJournalThread } from '../../../src/admin/journal/journal.ts';
import { makeToken } from '../../../src/commands/token.ts';
import { freePort } from '../../support/free-port.ts';
import { makeAuthority } from '../../support/authority.ts';
import { listening } from '../../support/listening.ts';
import { noThreads } from '../../support/no-threads.ts';
import { valueOf } from '../../support/samples.ts';
import { until, untilIs } from '../../support/until.ts';
import { givenReloadable, type Reloadable } from './given-reloadable.ts';

const old = makeToken();
const young = makeToken();

interface Gateway {
  readonly tokens: readonly string[];
  readonly listenAddress?: string;
}

const admin = ({ tokens, listenAddress = '127.0.0.1:0' }: Gateway) => ({
  listen_address: listenAddress,
  journal_file: 'journal.db',
  tokens: tokens.map((sha256, index) => ({ name: `someone-${index}`, sha256, role: 'admin' })),
});

/** The status of a read through the gateway, or why it is not answered. */
async function ask({ daemon }: Reloadable, token: string, path = '/appliances/a/farms', init: RequestInit = {}) {
  return await fetch(`${daemon.adminUrl}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers },
  });
}

async function reloadWith(given: Reloadable, names: readonly string[], gateway: Gateway | undefined): Promise<string> {
  await given.write('zlb.yml', {
    appliances: names.map((name) => given.entry(name)),
    ...(gateway ? { admin: admin(gateway) } : {}),
  });
  const outcome = await given.daemon.reload();
  return 'value' in outcome ? 'ok' : outcome.error;
}

describe('a reload of the gateway', () => {
  it('replaces tokens and appliances on the same listener', async () => {
    const given = await givenReloadable(['a', 'b'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256] }),
    }));
    const url = given.daemon.adminUrl;
    expect((await ask(given, old.token)).status).toBe(200);
    expect((await ask(given, young.token)).status).toBe(401);

    expect(await reloadWith(given, ['b'], { tokens: [young.sha256] })).toBe('ok');

    expect(given.daemon.adminUrl).toBe(url);
    expect((await ask(given, old.token)).status).toBe(401);
    expect((await ask(given, young.token)).status).toBe(404);
    expect((await ask(given, young.token, '/appliances/b/farms')).status).toBe(200);
  });

  it('closes connections when it brings other client authorities', async () => {
    const trusted = makeAuthority();
    const server = trusted.issue();
    const tls = { cert_file: 'server.crt', key_file: 'server.key', client_ca_file: 'clients.crt' };
    const given = await givenReloadable(
      ['a'],
      ({ entry }) => ({ appliances: [entry('a')], admin: { ...admin({ tokens: [old.sha256] }), tls } }),
      { 'server.crt': server.cert, 'server.key': server.key, 'clients.crt': trusted.cert },
    );
    const { port } = new URL(given.daemon.adminUrl ?? '');
    const socket = connect({ port: Number(port), rejectUnauthorized: false, ...trusted.issue() });
    const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    const answers: string[] = [];
    socket.on('data', (chunk) => answers.push(...(chunk.toString().match(/^HTTP\/1\.1 \d+/gm) ?? [])));
    const askAgain = () =>
      socket.write(`GET /whoami HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${old.token}\r\n\r\n`);
    askAgain();
    await untilIs(() => answers.length, 1);

    await given.write('clients.crt', makeAuthority('another').cert);
    expect(await given.daemon.reload()).toHaveProperty('value');
    askAgain();

    await closed;
    expect(answers).toEqual(['HTTP/1.1 200']);
  });

  it('switches it off and on again, and counters continue', async () => {
    const given = await givenReloadable(['a'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256] }),
    }));
    const answered = async (): Promise<number> =>
      Number(/zlb_admin_requests_total\{.*appliance="a".*\} (\d+)/.exec(await given.page())?.[1]);
    expect((await ask(given, old.token)).status).toBe(200);
    await until(answered, (count) => count === 1);

    expect(await reloadWith(given, ['a'], undefined)).toBe('ok');
    expect(given.daemon.adminUrl).toBeUndefined();
    expect(await reloadWith(given, ['a'], { tokens: [old.sha256] })).toBe('ok');

    expect((await ask(given, old.token)).status).toBe(200);
    expect(await until(answered, (count) => count === 2)).toBe(2);
  });

  it('keeps the freeze, and is refused if another journal or the end of the gateway would lose it', async () => {
    const { frozen, reloadAs } = await givenFrozen();

    expect(await reloadAs({ journal_file: 'another.db' })).toEqual({
      error: expect.stringContaining('admin.journal_file cannot change while the exporter runs'),
    });
    expect(await reloadAs({ timeout: '7s', listen_address: `127.0.0.1:${await freePort()}` })).toHaveProperty('value');
    expect(await frozen()).toBe(1);
    expect(await reloadAs(undefined)).toHaveProperty('value');
    // It is off when what was under way has ended.
    await untilIs(frozen, undefined);
    await until(
      () => reloadAs({ journal_file: 'another.db' }),
      (outcome) => 'error' in outcome && outcome.error.includes('run "zlb-exporter admin unfreeze" first'),
    );
    expect(await reloadAs({})).toHaveProperty('value');
    expect(await frozen()).toBe(1);
  });

  it('may bring another journal after a freeze that was lifted while the gateway was switched off', async () => {
    const written = Promise.withResolvers<void>();
    let heldRequests = 0;
    const given = await givenFrozen({}, (thread) => ({
      ...thread,
      async request(content) {
        if (content.do === 'write' && content.entries.some(({ record }) => record?.event === 'unfreeze')) {
          heldRequests += 1;
          await written.promise;
        }
        return await thread.request(content);
      },
    }));
    const lifting = given.lift();
    await untilIs(() => heldRequests, 1);

    expect(await given.reloadAs(undefined)).toHaveProperty('value');
    written.resolve();

    expect((await lifting).status).toBe(200);
    await untilIs(given.frozen, undefined);
    const outcome = await until(
      () => given.reloadAs({ journal_file: 'another.db' }),
      (each) => !('error' in each && each.error.includes('still under way')),
    );
    expect(outcome).toHaveProperty('value');
  });

  it('neither lifts a freeze that is only in memory, nor switches off its gateway', async () => {
    const given = await givenFrozen({ journal_file: '/dev/full/journal.db' });
    const { frozen, reloadAs } = given;

    expect(await reloadAs({ timeout: '7s' })).toHaveProperty('value');
    const taken = `127.0.0.1:${await listening(createServer())}`;
    expect(await reloadAs({ listen_address: taken })).toHaveProperty('error');
    const off = await reloadAs(undefined);

    expect(off).toEqual({
      error: expect.stringMatching(/a freeze is only in memory.*; make it writable first$/),
    });
    expect(await frozen()).toBe(1);
  });

  it.each([
    ['is refused', async () => ({ listen_address: `127.0.0.1:${await listening(createServer())}` }), false],
    ['brings another limit', () => Promise.resolve({ timeout: '9s' }), true],
    ['brings another address', async () => ({ listen_address: `127.0.0.1:${await freePort()}` }), true],
    ['switches the gateway off', () => Promise.resolve(undefined), true],
  ] as const)('%s while a call runs, and the caller still gets the response', async (_, more, ok) => {
    const given = await givenReloadable(['a'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256] }),
    }));
    const appliance = given.appliance('a');
    const held = Promise.withResolvers<void>();
    appliance.fail('POST /system/dns', { kind: 'held', until: held.promise });
    const call = ask(given, old.token, '/appliances/a/system/dns', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ primary: '192.0.2.1' }),
    });
    await untilIs(() => appliance.requests.filter(({ path }) => path === '/system/dns').length, 1);

    const settings = await more();
    const outcome = await reloadAs(given, settings);
    held.resolve();

    expect('value' in outcome).toBe(ok);
    expect((await call).status).toBe(200);
  });

  it('is refused if the new address is in use, and the old listener stays', async () => {
    const port = await freePort();
    const takenAddress = `127.0.0.1:${await listening(createServer())}`;
    const given = await givenReloadable(['a'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256], listenAddress: `127.0.0.1:${port}` }),
    }));

    expect(await reloadWith(given, ['a'], { tokens: [old.sha256], listenAddress: takenAddress })).toContain(
      'the address is in use',
    );

    expect(given.daemon.adminUrl).toBe(`http://127.0.0.1:${port}`);
    expect((await ask(given, old.token)).status).toBe(200);
  });

  it('says that another address on its own port, or TLS on the same address, needs a restart', async () => {
    const port = await freePort();
    const given = await givenReloadable(['a'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256], listenAddress: `127.0.0.1:${port}` }),
    }));

    const { cert, key } = makeAuthority().issue();
    await given.write('server.crt', cert);
    await given.write('server.key', key);

    expect(await reloadAs(given, { listen_address: `0.0.0.0:${port}`, insecure_plaintext: true })).toMatchObject({
      error: expect.stringContaining(`cannot change from 127.0.0.1:${port} to 0.0.0.0:${port}`),
    });
    const tls = { cert_file: 'server.crt', key_file: 'server.key' };
    expect(await reloadAs(given, { listen_address: `127.0.0.1:${port}`, tls })).toMatchObject({
      error: expect.stringContaining('admin.tls cannot be added or removed'),
    });
    expect((await ask(given, old.token)).status).toBe(200);
  });
});

/** Reloads with a gateway of these settings besides the usual ones; undefined for no gateway. */
async function reloadAs(given: Reloadable, more: Readonly<Record<string, unknown>> | undefined) {
  await given.write('zlb.yml', {
    appliances: [given.entry('a')],
    ...(more && { admin: { ...admin({ tokens: [old.sha256] }), ...more } }),
  });
  return await given.daemon.reload();
}

/** A gateway on which all changes are frozen. */
async function givenFrozen(
  more: Readonly<Record<string, unknown>> = {},
  throughJournal: (thread: ReturnType<CreateJournalThread>) => ReturnType<CreateJournalThread> = (thread) => thread,
) {
  const given = await givenReloadable(
    ['a'],
    ({ entry }) => ({ appliances: [entry('a')], admin: { ...admin({ tokens: [old.sha256] }), ...more } }),
    {},
    { ...noThreads, createJournalThread: (file) => throughJournal(noThreads.createJournalThread!(file)) },
  );
  const frozen = async () => valueOf(await given.page(), 'zlb_admin_frozen');
  const put = await ask(given, old.token, '/freeze', { method: 'PUT', headers: { 'x-reason': 'quarter end' } });
  expect([put.status, await frozen()]).toEqual([200, 1]);
  return {
    frozen,
    lift: () => ask(given, old.token, '/freeze', { method: 'DELETE' }),
    reloadAs: (next: Readonly<Record<string, unknown>> | undefined) => reloadAs(given, next && { ...more, ...next }),
  };
}
