import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { givenFolder } from './folder.ts';

/** A message that a person got. Several messages about one incident call a person once. */
export interface Message {
  readonly atMs: number;
  /** `call`: the pager rings. `end`: it closes the incident. */
  readonly kind: 'call' | 'end' | 'mail';
  /** The alert and its object, as `ZlbFarmDown lb-paris www`; of a mail its subject. */
  readonly about: string;
  /** The text on the phone, or of a mail. */
  readonly text: string;
}

/** The used part of an event for PagerDuty. */
interface PagerEvent {
  readonly event_action: 'trigger' | 'resolve';
  readonly dedup_key: string;
  readonly payload: Readonly<Record<'summary' | 'severity' | 'class' | 'component' | 'group', string | undefined>>;
}

/** Starts a pager and a mail server in the place of the person on call; both end with the test. */
export async function givenOnCall() {
  const messages: Message[] = [];
  const openIncidents = new Set<string>();

  function ring({ event_action, dedup_key, payload }: PagerEvent): void {
    const { summary = '', class: alertname = '', component = '', group = '' } = payload;
    const isOpen = openIncidents.has(dedup_key);
    const isEnd = event_action === 'resolve';
    // More of an open incident calls nobody.
    if (isOpen !== isEnd) return;
    if (isEnd) openIncidents.delete(dedup_key);
    else openIncidents.add(dedup_key);
    const about = [alertname, component, component === '' ? group : ''].filter(Boolean).join(' ');
    messages.push({ atMs: Date.now(), kind: isEnd ? 'end' : 'call', about, text: summary });
  }

  const pager = createHttpServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === '/pager') ring(JSON.parse(body) as PagerEvent);
      response.writeHead(202).end('{}');
    });
  });
  const mailServer = createMailServer((subject, body) =>
    messages.push({ atMs: Date.now(), kind: 'mail', about: subject, text: body }),
  );
  const keysFolder = givenFolder();
  for (const file of ['pagerduty-key', 'pagerduty-key-paris', 'gateway-token'])
    writeFileSync(join(keysFolder, file), 'x');
  const [webPort, mailPort] = [await listen(pager), await listen(mailServer)];

  return {
    messages: (): readonly Message[] => [...messages],
    /** Returns the shipped configuration with the addresses and files of this machine. */
    configure: (example: string) =>
      example
        .replace(
          /smtp_smarthost: .*/,
          `smtp_smarthost: 127.0.0.1:${mailPort}\n  smtp_require_tls: false\n  pagerduty_url: http://127.0.0.1:${webPort}/pager`,
        )
        .replaceAll(/(?<=- url: ).*/g, `http://127.0.0.1:${webPort}/`)
        .replaceAll('/etc/alertmanager/', `${keysFolder}/`),
  };
}

/** Takes every mail by SMTP, without TLS. */
function createMailServer(take: (subject: string, body: string) => void): Server {
  return createTcpServer((socket) => {
    let received = '';
    let isData = false;
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
      for (;;) {
        const end = isData ? '\r\n.\r\n' : '\r\n';
        const at = received.indexOf(end);
        if (at === -1) return;
        const part = received.slice(0, at);
        received = received.slice(at + end.length);
        if (isData) take(subjectOf(part), bodyOf(part));
        isData = !isData && part === 'DATA';
        socket.write(isData ? '354 go on\r\n' : part === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
    socket.on('error', () => socket.destroy());
    socket.write('220 mail\r\n');
  });
}

function subjectOf(mail: string): string {
  const folded = /^Subject: (.*(?:\r\n\s.*)*)/im.exec(mail)?.[1] ?? '';
  return folded
    .replaceAll(/\?=\r\n\s+=\?utf-8\?q\?/gi, '')
    .replaceAll(/\r\n\s+/g, ' ')
    .replaceAll(/=\?utf-8\?q\?(.*?)\?=/gi, (_, words: string) => quotedPrintable(words.replaceAll('_', ' ')));
}

/** Returns the text part of a mail in quoted-printable. */
function bodyOf(mail: string): string {
  const part = mail.split(/^Content-Transfer-Encoding: quoted-printable\r\n/im)[1] ?? '';
  const body = part.slice(part.indexOf('\r\n\r\n') + 4).split(/\r\n--/)[0] ?? '';
  return quotedPrintable(body).replaceAll('\r\n', '\n').trim();
}

function quotedPrintable(encoded: string): string {
  const bytes = encoded
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A line for each message: minutes and seconds after the begin, and what it says. */
export function diary(messages: readonly Message[], beganMs: number): string {
  return messages
    .map(({ atMs, kind, about, text }) => {
      const seconds = Math.round((atMs - beganMs) / 1_000);
      const sign = seconds < 0 ? '-' : '+';
      const time = `${sign}${Math.floor(Math.abs(seconds) / 60)}:${String(Math.abs(seconds) % 60).padStart(2, '0')}`;
      return `${time} ${kind.toUpperCase()} ${about} | ${text}`;
    })
    .join('\n');
}
