import { randomUUID } from 'node:crypto';
import { type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { AdminProblem } from '../admin/problem.ts';
import { errorCode } from '../lib/check.ts';
import type { Secret } from '../lib/secret.ts';
import { createGuardedServer, type GuardedServer, maxHeaderSize } from './guarded-server.ts';
import { problemBody } from './problem-answer.ts';

export interface AdminServerTls {
  readonly cert: string;
  readonly key: Secret;
  /** PEM of those who sign the certificates of clients; without it none is asked for. */
  readonly clientCa?: string;
}

export interface AdminServerParts {
  readonly tls: AdminServerTls | undefined;
  readonly onRefused: (problem: AdminProblem) => void;
}

/** The server beneath the admin listener, and what it says to what is no HTTP and meets no route. */
export interface AdminServer {
  create(handler: RequestListener): Server;
  refuse(error: unknown, socket: Socket): void;
}

/** Uploads of backups and packages are large, and come over slow lines. */
const requestTimeoutMs = 1_800_000;
const mostConnections = 256;

export function createAdminServer({ tls, onRefused }: AdminServerParts): AdminServer {
  const servers: GuardedServer[] = [];
  const refused = new WeakSet<Socket>();

  return {
    create(handler) {
      const guarded = createGuardedServer({
        tls: tls && tlsOptions(tls),
        handler,
        mostConnections,
        requestTimeoutMs,
        // Answered in the form of all other refusals.
        handlesOddRequests: true,
      });
      servers.push(guarded);
      return guarded.server;
    },
    refuse(error, socket) {
      if (refused.has(socket)) return;
      refused.add(socket);
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      // A request that came whole may be carried out already: it gets its own answer, and what follows it none.
      const unanswered = servers.flatMap((guarded) => guarded.unansweredOn(socket));
      const last = unanswered.findLast(({ req }) => req.complete);
      if (last) last.once('close', () => socket.end());
      else socket.end(answerTo(error));
    },
  };

  function answerTo(error: unknown): string {
    const problem = problemOf(errorCode(error));
    onRefused(problem);
    const id = randomUUID();
    const body = JSON.stringify(problemBody(problem, { id, compatible: false }));
    const head = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      'connection: close',
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      `x-request-id: ${id}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  }
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
