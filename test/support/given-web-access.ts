import type { RequestListener } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { genSaltSync, hashSync } from 'bcryptjs';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createWebAccess, type WebAccessOptions } from '../../src/server/web-access.ts';
import type { WebSettings, WebTls } from '../../src/config/web-settings.ts';
import { Secret } from '../../src/lib/secret.ts';
import type { Identity } from '../../simulator/certificate.ts';

export interface WebAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface AskOptions {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As `user:password`. */
  readonly basic?: string;
  /** The address to come from, out of 127.0.0.0/8. */
  readonly from?: string;
  /** The certificate to show, and whatever else of TLS. */
  readonly tls?: ConnectionOptions;
}

type Given = Partial<Omit<WebAccessOptions, 'policy' | 'log'>> & { readonly handler?: RequestListener };

/** A listener under a policy that answers "let in"; it ends with the test. */
export async function givenWebAccess(policy: WebSettings, { handler, ...parts }: Given = {}) {
  const logged: string[] = [];
  const access = createWebAccess({
    policy,
    log: pino({ level: 'debug', base: null }, { write: (line: string) => void logged.push(line) }),
    ...parts,
  });
  const { app } = access;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.all('*', (request, reply) => {
    for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value ?? '');
    (handler ?? ((_, response) => void response.end('let in')))(request.raw, reply.raw);
    return reply.hijack();
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { server } = app;
  onTestFinished(async () => {
    server.closeAllConnections();
    await app.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${policy.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { access, server, url, port, logged, ask: (options?: AskOptions) => ask(url, options) };
}

/** Asks once on a connection of its own; rejects when it ends without an answer. */
function ask(url: string, options: AskOptions = {}): Promise<WebAnswer> {
  const { path = '/metrics', method = 'GET', headers = {}, basic, from = '127.0.0.1', tls = {} } = options;
  const wanted = {
    method,
    path,
    agent: false,
    localAddress: from,
    headers: {
      ...headers,
      ...(basic === undefined ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
  };
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https')
      ? tlsRequest(url, { ...wanted, rejectUnauthorized: false, ...tls })
      : plainRequest(url, wanted);
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.end();
  });
}

/** `let in`, the status of a refusal, or `cut off` where the connection ended without an answer. */
export async function outcomeOf(answer: Promise<WebAnswer>): Promise<string | number> {
  return await answer.then(
    ({ status, text }) => (status === 200 ? text : status),
    () => 'cut off',
  );
}

export function givenTls({ key, cert }: Identity, rest: Partial<WebTls> = {}): WebTls {
  return {
    cert,
    key: new Secret(key),
    clientAuth: 'NoClientCert',
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    honorCipherOrder: true,
    ...rest,
  };
}

export function givenUsers(passwords: Readonly<Record<string, string>>, cost = 4): WebSettings['users'] {
  return new Map(
    Object.entries(passwords).map(([user, password]) => [user, new Secret(hashSync(password, genSaltSync(cost)))]),
  );
}
