import type { WebSettings } from '../config/web-settings.ts';
import { formatEndpoint, parseListenAddress } from '../lib/address.ts';
import { assert, errorCode, errorMessage, toError } from '../lib/check.ts';
import { httpRequestOf } from '../lib/http.ts';
import { speaksNoTls } from '../lib/tls-errors.ts';
import { type Command, type CommandContext, defaultListenAddress } from './command.ts';

/**
 * Requests /-/healthy from a running exporter on this machine; for containers without a shell or
 * curl.
 */
export const healthcheck: Command = async ({ flags, env, printOut, printErr }) => {
  const address = parseListenAddress(flags['web.listen-address'] ?? defaultListenAddress);
  assert(address, 'parseFlags has checked the address');
  const webFile = flags['web.config.file'];
  const tls = webFile === undefined ? undefined : await tlsOf(webFile, env);
  const { port } = address;
  // A listener on every address also listens here.
  const host = ['', '0.0.0.0', '::'].includes(address.host) ? '127.0.0.1' : address.host;
  const url = `${tls ? 'https' : 'http'}://${formatEndpoint(host, port)}/-/healthy`;
  try {
    const response = await request(url, tls);
    if (isAlive(response, tls)) {
      printOut('healthy');
      return 0;
    }
    printErr(
      `${url} ${response === 'refused' ? 'ended the connection without an answer' : `answered ${response}`}; is the exporter behind it? Its log says more`,
    );
  } catch (error) {
    printErr(`${url} does not answer: ${reasonText(error)}, or give the --web.listen-address that it has`);
  }
  return 1;
};

/** Loads the reader of web configurations only where there is one: it takes 0.3 s of processor. */
async function tlsOf(file: string, env: CommandContext['env']): Promise<WebSettings['tls']> {
  const { loadWebSettings } = await import('../config/web-settings.ts');
  return (await loadWebSettings({ file, env })).tls;
}

const limitMs = 3_000;

/** Returns why there is no answer, and the most likely remedy. */
function reasonText(error: unknown): string {
  if (speaksNoTls(error))
    return 'that port does not speak TLS; leave --web.config.file out if the exporter runs without it';
  if (toError(error).name === 'AbortError')
    return `it took longer than ${limitMs / 1_000} s; see the log of the exporter`;
  // A listener with TLS closes the connection on plain text, or answers with an alert.
  const mayBeTls = /^(?:ECONNRESET$|EPIPE$|HPE_)/.test(errorCode(error));
  return `${errorMessage(error)}; ${mayBeTls ? 'if the exporter has TLS, give its --web.config.file' : 'start the exporter'}`;
}

/** A status; `refused` when the server closed the connection after the handshake. */
type HealthResponse = number | 'refused';

/**
 * Returns true for a living exporter, also for one that requires a password or a client
 * certificate.
 */
function isAlive(response: HealthResponse, tls: WebSettings['tls']): boolean {
  if (response === 'refused') return tls !== undefined && tls.clientAuth !== 'NoClientCert';
  return [200, 401, 429].includes(response);
}

function request(url: string, tls: WebSettings['tls']): Promise<HealthResponse> {
  return new Promise((resolve, reject) => {
    let shookHands = false;
    const sent = httpRequestOf(tls ? 'https:' : 'http:')(url, {
      agent: false,
      signal: AbortSignal.timeout(limitMs),
      // The certificate is not for 127.0.0.1, and the request holds no secret.
      ...(tls && { rejectUnauthorized: false, minVersion: tls.minVersion, ciphers: tls.ciphers }),
    });
    sent.once('socket', (socket) => {
      socket.once('secureConnect', () => {
        shookHands = true;
      });
    });
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', (error) => {
      if (shookHands && error.name !== 'AbortError') resolve('refused');
      else reject(error);
    });
    sent.end();
  });
}
