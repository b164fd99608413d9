import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { runCommandLine } from '../../src/cli.ts';
import { givenFolder } from '../support/folder.ts';
import { givenExporter } from '../support/given-exporter.ts';
import { listening } from '../support/listening.ts';
import { makeMaterial, startHttpsServer, startTlsServer } from '../support/tls-server.ts';
import { until } from '../support/until.ts';
import { givenContext } from '../unit/commands/given-command.ts';

const hourMs = 3_600_000;

async function ask(url: string, ...words: readonly string[]) {
  const { context, said } = givenContext({ env: { ZLB_EXPORTER_URL: url } });
  return { code: await runCommandLine(['plugin', ...words], context), line: said.join('\n') };
}

const saying = (line: RegExp) => expect.stringMatching(line) as string;

it('the plugin judges by current readings of an exporter, and never by old ones', async () => {
  const { url, appliances, stop } = await givenExporter({ 'lb-1': busyWorld() }, { eager: ['farms', 'backends'] });
  const intranet = () => ask(url, 'farm', 'lb-1', 'intranet');
  // A reading is old after three seconds.
  const known = (answer: typeof intranet) => until(answer, ({ code }) => code !== 3);

  expect(await until(intranet, ({ code }) => code === 0)).toMatchObject({
    line: saying(/^OK - 1 farm of lb-1: .* \| farms=1;;;0 /),
  });
  expect(await known(() => ask(url, 'farm', 'lb-1', 'legacy'))).toEqual({
    code: 2,
    line: saying(/^CRITICAL - farm legacy is critical/),
  });
  expect(await known(() => ask(url, 'connections', 'lb-1', 'shop', '-w', '1', '-c', '2'))).toMatchObject({ code: 2 });
  expect(await ask(url, 'farm', 'lb-2')).toEqual({ code: 3, line: saying(/^UNKNOWN - .* lb-2$/) });

  // Not that the exporter does not watch it.
  expect(await ask(`${url}/nope`, 'farm', 'lb-1')).toEqual({
    code: 3,
    line: saying(/^UNKNOWN - no exporter answers under http:.*\/nope \(404\): check .* path of --exporter\.url$/),
  });

  await appliances[0]?.close();
  const silent = await until(intranet, ({ line }) => line.includes('of farms is'));
  expect(silent).toEqual({ code: 3, line: saying(/^UNKNOWN - lb-1: .* old/) });

  await stop();
  expect(await intranet()).toEqual({ code: 3, line: saying(/^UNKNOWN - the exporter at .* did not respond/) });
});

describe('the plugin says what to do about a connection that fails:', () => {
  const asks = async (url: string, ...flags: readonly string[]) =>
    (await ask(url, 'farm', 'lb-1', ...flags)).line.replaceAll(/:\d{4,5}/g, '');

  it('a listener without TLS', async () => {
    const port = await listening(createServer((_, response) => response.end()));

    expect(await asks(`https://127.0.0.1:${port}`)).toBe(
      'UNKNOWN - the exporter at https://127.0.0.1 did not respond: that port does not speak TLS; write http:// in --exporter.url (or ZLB_EXPORTER_URL)',
    );
  });

  it('a listener with TLS', async () => {
    const { url } = await startHttpsServer((response) => response.end());

    expect(await asks(url.origin.replace('https', 'http'))).toBe(
      'UNKNOWN - the exporter at http://127.0.0.1 did not respond: socket hang up; if it speaks TLS, write https:// in --exporter.url (or ZLB_EXPORTER_URL)',
    );
  });

  it('a self-signed certificate', async () => {
    const { url } = await startHttpsServer((response) => response.end());

    expect(await asks(url.origin)).toBe(
      'UNKNOWN - the exporter at https://127.0.0.1 did not respond: self-signed certificate; give its authority, or itself, as --exporter.ca-file',
    );
  });

  it('a certificate for another name', async () => {
    const material = makeMaterial({ name: 'exporter.example.com' });
    const { url } = await startHttpsServer((response) => response.end(), { material });
    const file = join(givenFolder(), 'ca.pem');
    writeFileSync(file, material.cert);

    expect(await asks(url.origin, `--exporter.ca-file=${file}`)).toMatch(
      /altnames: .*; write a name of its certificate in --exporter\.url \(or ZLB_EXPORTER_URL\)$/,
    );
  });

  it('a listener that lets only clients with a certificate in', async () => {
    const { url, material } = await startTlsServer((socket) => socket.destroy());
    const file = join(givenFolder(), 'ca.pem');
    writeFileSync(file, material.cert);

    expect(await asks(url.origin, `--exporter.ca-file=${file}`)).toMatch(
      /; if it asks for a certificate, give --exporter\.cert-file$/,
    );
  });

  it('a response that breaks off', async () => {
    const server = createServer((_, response) =>
      response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    );

    expect(await asks(`http://127.0.0.1:${await listening(server)}`)).toBe(
      'UNKNOWN - the exporter at http://127.0.0.1 did not respond: aborted',
    );
  });

  it('nothing listens', async () => {
    expect(await asks('http://127.0.0.1:1')).toBe(
      'UNKNOWN - the exporter at http://127.0.0.1:1 did not respond: connect ECONNREFUSED 127.0.0.1:1; check that it runs, and --exporter.url',
    );
  });

  it.each<[what: string, flags: readonly string[], says: RegExp]>([
    [
      'a password that was not given',
      [],
      /asks for a password; give --exporter\.user-file, a file with user:password$/,
    ],
    ['a wrong password', ['--exporter.user-file=FILE'], /refuses the user or the password of --exporter\.user-file$/],
  ])('%s', async (_what, flags, says) => {
    const port = await listening(createServer((_, response) => response.writeHead(401).end()));
    const file = join(givenFolder(), 'user');
    writeFileSync(file, 'icinga:wrong');

    expect(await asks(`http://127.0.0.1:${port}`, ...flags.map((flag) => flag.replace('FILE', file)))).toMatch(says);
  });
});

describe('the plugin', () => {
  /** Asks an exporter whose answer is as old as is given. */
  async function askOld(ageMs: number, collectors: readonly string[]) {
    const atMs = Date.now() - ageMs;
    const state = { up: true, deactivated: false, breaker: 'closed' };
    const read = { lastSuccessMs: atMs - 1_000, intervalMs: 30_000, isStale: false, isSupported: true };
    const appliance = {
      name: 'lb-1',
      ...state,
      problems: [],
      collectors: collectors.map((name) => ({ name, ...read })),
    };
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(atMs).toUTCString());
      response.end(JSON.stringify({ demonstration: false, appliances: [appliance] }));
    });
    return await ask(`http://127.0.0.1:${await listening(server)}`, 'appliance', 'lb-1');
  }

  it.each([
    ['current', 0, ['farms'], 0, /^OK/],
    ['repeated by a proxy', hourMs, ['farms'], 3, /^UNKNOWN - .*clock/],
    ['dated by a wrong clock', -hourMs, ['farms'], 3, /^UNKNOWN - .*clock/],
    ['without a reading of the appliance', 0, [], 3, /^UNKNOWN/],
  ])('reports OK only for a current response: %s', async (_, ageMs, collectors, code, line) => {
    expect(await askOld(ageMs, collectors)).toEqual({ code, line: saying(line) });
  });
});
