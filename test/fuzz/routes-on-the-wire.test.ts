import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApplianceClient } from '../../src/appliance/client.ts';
import { createDecoder } from '../../src/appliance/decode.ts';
import { ApplianceError } from '../../src/appliance/errors.ts';
import { Secret } from '../../src/lib/secret.ts';
import { fuzzing } from '../support/fuzz.ts';
import { startTlsServer } from '../support/tls-server.ts';
import { hostileName } from './hostile-names.ts';
import { valuesIn } from './values-in-path.ts';

const refusal = '{"message":"no such farm"}';

describe('a hostile name of a farm, on the wire', () => {
  it('is one line that asks for that farm and nothing else, or is not sent', async () => {
    let received = '';
    const server = await startTlsServer((socket) => {
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1');
        if (!received.endsWith('\r\n\r\n')) return;
        const head = `HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: ${refusal.length}`;
        socket.write(`${head}\r\n\r\n${refusal}`);
      });
    });
    const client = createApplianceClient({
      url: server.url,
      tls: { fingerprintSha256: server.material.fingerprintSha256, insecureSkipVerify: false },
      apiKey: new Secret('kQ7wXr2mZp9sVt4n'),
      keyHeader: 'auto',
      timeoutMs: 5_000,
      maxConnections: 1,
      bodyBytes: 65_536,
      decode: createDecoder(),
      now: Date.now,
      onCall: () => undefined,
    });
    onTestFinished(() => client.close());
    const { signal } = new AbortController();

    await fc.assert(
      fc.asyncProperty(hostileName, async (farmname) => {
        received = '';

        const error: unknown = await client
          .read('readFarmStats', { farmname }, signal)
          .catch((thrown: unknown) => thrown);

        expect(error).toBeInstanceOf(ApplianceError);
        if (received === '') {
          expect(error).toHaveProperty('reason', 'bad_request');
        } else {
          expect(error).toHaveProperty('reason', 'not_found');
          const [, path = ''] = /^GET \/(?:api|zapi)\/v4\.0\/z?api\.cgi(\/[!-~]*) HTTP\/1\.1\r\n/.exec(received) ?? [];
          expect(valuesIn(path, '/stats/farms/{farmname}')).toEqual([farmname]);
          expect(received.split('\r\n\r\n')).toEqual([expect.any(String), '']);
        }
      }),
      fuzzing('routesOnTheWire'),
    );
  });
});
