import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import { AdminProblem } from '../admin/problem.ts';
import type { Secret } from '../lib/secret.ts';
import { createGuardedServer, maxHeaderSize } from './guarded-server.ts';
import { problemBody } from './problem-answer.ts';
import { rawAnswer } from './raw-answer.ts';

export interface AdminServerTls {
  readonly cert: string;
  readonly key: Secret;
  /** PEM of those who sign the certificates of clients; without it none is asked for. */
  readonly clientCa?: string;
}

export interface AdminServerParts {
  readonly tls: AdminServerTls | undefined;
  readonly onRefused: (problem: AdminProblem) => void;
  readonly handler: RequestListener;
}

/** Uploads of backups and packages are large, and come over slow lines. */
const requestTimeoutMs = 1_800_000;
const mostConnections = 256;

/** The server beneath the admin listener; what is no HTTP and meets no route is answered like all else. */
export function createAdminServer({ tls, onRefused, handler }: AdminServerParts): Server {
  const { server } = createGuardedServer({
    tls: tls && tlsOptions(tls),
    handler,
    answerTo(code) {
      const problem = problemOf(code);
      onRefused(problem);
      return answerWith(problem);
    },
    mostConnections,
    requestTimeoutMs,
    // Answered in the form of all other refusals.
    handlesOddRequests: true,
  });
  return server;
}

function answerWith(problem: AdminProblem): string {
  const id = randomUUID();
  return rawAnswer(problem.status, JSON.stringify(problemBody(problem, { id, compatible: false })), {
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

/** New handshakes see another certificate, and answer to other authorities. */
export function presentCertificate(server: Server, tls: AdminServerTls): void {
  if (!(server instanceof TlsServer)) return;
  server.setSecureContext(tlsOptions(tls));
  // Who was let in by an authority that is not trusted any more has to show a certificate again.
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
