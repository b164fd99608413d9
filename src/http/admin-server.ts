import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import { AdminProblem } from '../admin/problem.ts';
import type { Secret } from '../lib/secret.ts';
import { createGuardedServer, maxHeaderSize } from './guarded-server.ts';
import { problemBody } from './problem-response.ts';
import { rawResponse } from './raw-response.ts';

export interface AdminServerTls {
  readonly cert: string;
  readonly key: Secret;
  /** PEM of the authorities that sign client certificates; without it, none is requested. */
  readonly clientCa?: string;
}

export interface AdminServerParts {
  readonly tls: AdminServerTls | undefined;
  readonly onRefused: (problem: AdminProblem) => void;
  readonly handler: RequestListener;
}

/** Half an hour: uploads of backups and packages are large, and may come over slow lines. */
const requestTimeoutMs = 1_800_000;
const maxConnections = 256;

/**
 * Creates the server beneath the admin listener. It answers malformed HTTP with problem+json too.
 */
export function createAdminServer({ tls, onRefused, handler }: AdminServerParts): Server {
  const { server } = createGuardedServer({
    tls: tls && tlsOptions(tls),
    handler,
    responseTo(code) {
      const problem = problemOf(code);
      onRefused(problem);
      return answerWith(problem);
    },
    maxConnections: maxConnections,
    requestTimeoutMs,
    // `rejectUnsupportedRequest` answers them as problem+json.
    handlesUnsupportedRequests: true,
  });
  return server;
}

function answerWith(problem: AdminProblem): string {
  const id = randomUUID();
  return rawResponse(problem.status, JSON.stringify(problemBody(problem, { id, compatible: false })), {
    'content-type': 'application/problem+json',
    'x-request-id': id,
  });
}

function problemOf(code: string): AdminProblem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AdminProblem('malformed_header', {
        status: 431,
        detail: `The headers are longer than ${maxHeaderSize} bytes; nothing was sent.`,
        remedy: 'Check what the client puts into its headers.',
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AdminProblem('malformed_request', {
        status: 408,
        detail: 'The request did not arrive in time.',
        remedy: 'Check the connection of the client.',
      });
    default:
      return new AdminProblem('malformed_request', {
        detail: 'What came is not a request as HTTP has it; nothing was sent.',
        remedy: 'Check how the client writes its lines, headers and lengths, and what stands between.',
      });
  }
}

/** Uses another certificate, and other client authorities, for new handshakes. */
export function presentCertificate(server: Server, tls: AdminServerTls): void {
  if (!(server instanceof TlsServer)) return;
  server.setSecureContext(tlsOptions(tls));
  // A client whose authority is no longer trusted must show a certificate again.
  server.closeIdleConnections();
}

function tlsOptions({ cert, key, clientCa }: AdminServerTls) {
  return {
    cert,
    key: key.reveal(),
    minVersion: 'TLSv1.2' as const,
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  };
}
