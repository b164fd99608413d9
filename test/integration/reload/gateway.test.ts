import { createServer, type Server } from 'node:http';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { freePort } from '../../support/free-port.ts';
import { makeAuthority } from '../../support/authority.ts';
import { listening } from '../../support/listening.ts';
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
  return outcome.ok ? 'ok' : outcome.because;
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

  it('with other client authorities ends connections', async () => {
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
    expect(await given.daemon.reload()).toMatchObject({ ok: true });
    askAgain();

    await closed;
    expect(answers).toEqual(['HTTP/1.1 200']);
  });

  it('switches it off and on again, and counters go on', async () => {
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

  it('keeps the freeze over a new listener, and is refused if a new audit would lose it', async () => {
    const given = await givenReloadable(['a'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256] }),
    }));
    const frozen = async () => valueOf(await given.page(), 'zlb_admin_frozen');
    const waiting = async () => valueOf(await given.page(), 'zlb_admin_changes_open', { state: 'pending' });
    const reloadAs = (more: Readonly<Record<string, unknown>> | undefined) =>
      given
        .write('zlb.yml', {
          appliances: [given.entry('a')],
          ...(more && { admin: { ...admin({ tokens: [old.sha256] }), ...more } }),
        })
        .then(() => given.daemon.reload());
    const put = await ask(given, old.token, '/freeze', { method: 'PUT', headers: { 'x-reason': 'quarter end' } });
    expect([put.status, await frozen()]).toEqual([200, 1]);

    expect(await reloadAs({ journal_file: 'another.jsonl' })).toEqual({
      ok: false,
      because: expect.stringContaining('admin.journal_file cannot change while all changes are frozen'),
    });
    expect(await frozen()).toBe(1);
    expect((await reloadAs({ timeout: '7s' })).ok).toBe(true);
    expect(await frozen()).toBe(1);
    expect(await waiting()).toBe(0);
    expect((await reloadAs(undefined)).ok).toBe(true);
    expect([await frozen(), await waiting()]).toEqual([undefined, undefined]);
    expect((await reloadAs({})).ok).toBe(true);
    expect(await frozen()).toBe(1);
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

  it('reports that it is off if neither address works, and is on again after the next reload', async () => {
    const port = await freePort();
    const takenAddress = `127.0.0.1:${await listening(createServer())}`;
    const listenAddress = `127.0.0.1:${port}`;
    const given = await givenReloadable(['a'], ({ entry }) => ({
      appliances: [entry('a')],
      admin: admin({ tokens: [old.sha256], listenAddress }),
    }));
    const thief = takeAsSoonAsFree(port);
    onTestFinished(() => void thief.close());

    const refused = await reloadWith(given, ['a'], { tokens: [old.sha256], listenAddress: takenAddress });
    thief.close();

    expect(refused.split('\n')).toEqual([
      expect.stringContaining(`cannot listen on ${takenAddress}`),
      expect.stringContaining(
        `The admin gateway is off until a reload brings it back: cannot listen on ${listenAddress}`,
      ),
    ]);
    expect(given.daemon.adminUrl).toBeUndefined();
    expect(await reloadWith(given, ['a'], { tokens: [old.sha256], listenAddress })).toBe('ok');
    expect((await ask(given, old.token)).status).toBe(200);
  });
});

/** A server that gets a port in the moment in which its owner lets go of it. */
function takeAsSoonAsFree(port: number): Server {
  const server = createServer();
  server.on('error', () => setImmediate(() => server.listen(port, '127.0.0.1')));
  return server.listen(port, '127.0.0.1');
}
