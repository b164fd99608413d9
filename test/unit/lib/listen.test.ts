import { createServer, type RequestListener, type Server } from 'node:http';
import { type FastifyInstance, fastify } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, ListenError } from '../../../src/lib/listen.ts';

const setting = '--web.listen-address';

describe('listening', () => {
  it.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])(
    'works without IPv6 if :: fails with %s and no host is named',
    async (code) => {
      const app = givenApp((handler) => serverWithoutIpv6(handler, code));

      const url = await listen(app, ':0', setting);

      expect(app.server.address()).toMatchObject({ address: '0.0.0.0', family: 'IPv4' });
      expect(url).toBe(`http://localhost:${portOf(app)}`);
    },
  );

  it('uses one server for localhost, because a second one of fastify would lack our guards', async () => {
    const app = givenApp();

    await listen(app, 'localhost:0', setting);

    expect(app.addresses()).toEqual([expect.objectContaining({ address: '127.0.0.1' })]);
  });

  it('returns an address with https for a server with TLS', async () => {
    const app = fastify({ https: {} });
    onTestFinished(() => app.close());

    const url = await listen(app, '127.0.0.1:0', setting);

    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  it('reports a remedy if the address is in use', async () => {
    const first = givenApp();
    await listen(first, '127.0.0.1:0', setting);
    const address = `127.0.0.1:${portOf(first)}`;

    await expect(listen(givenApp(), address, setting)).rejects.toThrow(
      new ListenError(
        `cannot listen on ${address}: the address is in use; stop what uses it or choose another --web.listen-address`,
        setting,
      ),
    );
  });

  it.each([
    ['192.0.2.1:0', 'no network interface has the address; choose another --web.listen-address'],
    ['[2001:db8::1]:0', 'no network interface has the address; choose another --web.listen-address'],
    ['nosuchhost.invalid:0', 'the host name has no address; choose another --web.listen-address'],
  ])('reports a remedy if %s is not available', async (address, because) => {
    await expect(listen(givenApp(), address, setting)).rejects.toThrow(
      new ListenError(`cannot listen on ${address}: ${because}`, setting),
    );
  });

  it('reports a remedy if the port needs more privileges', async () => {
    const app = givenApp((handler) => failingServer(handler, () => 'EACCES'));

    await expect(listen(app, ':80', setting)).rejects.toThrow(
      new ListenError(
        'cannot listen on :80: the user that runs the exporter may not use the port; choose one above 1023 as --web.listen-address',
        setting,
      ),
    );
  });
});

function givenApp(makeServer: (handler: RequestListener) => Server = createServer): FastifyInstance {
  const app = fastify({ serverFactory: (handler) => makeServer(handler) });
  onTestFinished(() => app.close());
  return app;
}

const serverWithoutIpv6 = (handler: RequestListener, code: string): Server =>
  failingServer(handler, (host) => (host.includes(':') ? code : undefined));

/** A server that gets the error code from the system that this machine cannot be made to give. */
function failingServer(handler: RequestListener, codeFor: (host: string) => string | undefined): Server {
  const server = createServer(handler);
  const really = server.listen.bind(server);
  return Object.assign(server, {
    listen(options: { host: string; port: number }) {
      const code = codeFor(options.host);
      if (code === undefined) return really(options);
      queueMicrotask(() => server.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
      return server;
    },
  });
}

function portOf(app: FastifyInstance): number {
  const bound = app.server.address();
  return typeof bound === 'object' && bound ? bound.port : 0;
}
