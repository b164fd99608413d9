import type { Socket } from 'node:net';

/** Answers to a path as a hostile appliance does, as long as the socket is open. */
export type HostileReply = (socket: Socket, path: string) => void;

const megabyte = 1_000_000;
const rowsOfList = 2_500;
const rowsOfFarm = 1_000;

/** Sends a complete reply as JSON. */
function json(socket: Socket, text: string, status = 200): void {
  const head = `HTTP/1.1 ${status} x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  socket.write(head + text);
}

/** Sends the beginning of a reply in chunks. */
function beginChunks(socket: Socket, headers = ''): void {
  socket.write(`HTTP/1.1 200 x\r\nContent-Type: application/json\r\n${headers}Transfer-Encoding: chunked\r\n\r\n`);
}

/** Writes the same again and again, as fast as it is read. */
function forever(socket: Socket, text: string): void {
  const bytes = Buffer.from(text);
  const write = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', write);
  write();
}

/** Fills a reply that the collectors read; `long` makes its names and texts. */
function filled(socket: Socket, path: string, long: (index: number) => string, rows = rowsOfList): void {
  const each = <Row>(count: number, row: (index: number) => Row): Row[] =>
    Array.from({ length: count }, (_, at) => row(at));
  const farm = (index: number) => ({
    farmname: long(index),
    profile: 'l4xnat',
    status: 'up',
    vip: '192.0.2.1',
    vport: '80',
  });
  const backend = (index: number) => ({
    id: String(index),
    ip: long(index),
    port: long(index),
    service: 'www',
    status: 'up',
  });
  const route = path.replace(/^\/z?api\/v4\.0\/z?api\.cgi/, '');
  const backends = each(Math.min(rows, rowsOfFarm), backend);
  if (route === '/farms')
    json(
      socket,
      JSON.stringify({ params: each(rows, (at) => ({ ...farm(at), profile: at % 2 ? 'http' : 'l4xnat' })) }),
    );
  else if (route === '/stats/farms') json(socket, JSON.stringify({ farms: each(rows, farm) }));
  else if (route === '/farms/modules/summary')
    json(
      socket,
      JSON.stringify({
        params: { lslb: each(rows, (at) => ({ name: long(at), profile: 'http', services: [] })), gslb: [], dslb: [] },
      }),
    );
  else if (/^\/farms\/[^/]+\/backends$/.test(route)) json(socket, JSON.stringify({ params: backends }));
  else if (/^\/(?:stats\/)?farms\/[^/]+$/.test(route))
    json(
      socket,
      JSON.stringify({
        params: { status: 'up', vip: long(1), ciphers: long(2) },
        backends,
        services: [{ id: 'www', backends }],
      }),
    );
  else if (route.startsWith('/interfaces'))
    json(socket, JSON.stringify({ interfaces: each(rows, (at) => ({ name: long(at), status: 'up' })) }));
  else if (route.startsWith('/certificates'))
    json(socket, JSON.stringify({ params: each(rows, (at) => ({ file: long(at), CN: 'x' })) }));
  else if (route === '/stats/system/network')
    json(
      socket,
      JSON.stringify({ params: { interfaces: each(rows, (at) => ({ interface: long(at), in: 1, out: 1 })) } }),
    );
  else json(socket, JSON.stringify({ params: { hostname: long(0), appliance_version: long(1), status: 'up' } }));
}

/** Lists 55 farms of 900 backends with long names, each of which is up or down at random. */
function flapping(socket: Socket, path: string): void {
  const [, list, farm] = /\/stats\/farms(?:(\/?)$|\/([^/]+)$)/.exec(path) ?? [];
  const state = (): string => (Math.random() < 0.5 ? 'up' : 'down');
  const rows = <Row>(count: number, row: (index: number) => Row): Row[] =>
    Array.from({ length: count }, (_, index) => row(index));
  const listed = rows(55, (at) => ({ farmname: `farm-${at}`, profile: 'http', status: 'problem' }));
  if (list !== undefined) json(socket, JSON.stringify({ farms: listed }));
  else if (path.endsWith('.cgi/farms')) json(socket, JSON.stringify({ params: listed }));
  else if (farm !== undefined)
    json(
      socket,
      JSON.stringify({
        backends: rows(900, (at) => ({
          id: String(at),
          ip: `${farm}-${at}-`.padEnd(250, 'n'),
          port: '80',
          service: 'www-'.padEnd(200, 's'),
          status: state(),
        })),
      }),
    );
  else filled(socket, path, (at) => `name-${at}`, 5);
}

/** Lists 640 farms with long names, each of which names all of 2,500 certificates. */
function certificatesInFarms(socket: Socket, path: string): void {
  const rows = <Row>(count: number, row: (index: number) => Row): Row[] =>
    Array.from({ length: count }, (_, index) => row(index));
  const files = rows(rowsOfList, (at) => ({ file: String(at), type: 'Certificate', CN: String(at) }));
  const list = rows(640, (at) => ({ farmname: `${at}-`.padEnd(250, 'n'), profile: 'https', status: 'up' }));
  if (path.endsWith('/stats/farms')) json(socket, JSON.stringify({ farms: list }));
  else if (path.endsWith('.cgi/farms')) json(socket, JSON.stringify({ params: list }));
  else if (path.endsWith('/certificates')) json(socket, JSON.stringify({ params: files }));
  else if (/cgi\/farms\/[^/]+$/.test(path))
    json(
      socket,
      JSON.stringify({ params: { status: 'up', certlist: files.map(({ file }) => ({ file })) }, services: [] }),
    );
  else filled(socket, path, (at) => `name-${at}`, 5);
}

let answers = 0;

/** The ways of one appliance to cost more than a good one. */
export const hostileReplies = {
  'nothing hostile': (socket, path) => filled(socket, path, (at) => `name-${at}`, 5),
  'a body of one-byte chunks': (socket) => {
    beginChunks(socket);
    forever(socket, '1\r\n \r\n'.repeat(10_000));
  },
  'long names in every list': (socket, path) =>
    filled(
      socket,
      path,
      (at) => `${at}-${'n'.repeat(path.endsWith('/backends') || /farms\/./.test(path) ? 3_900 : 3_000)}`,
    ),
  'short texts in long ones': (socket, path) =>
    filled(
      socket,
      path,
      (at) => `a-text-of-30-characters-number-${at}${' '.repeat(at === 1 ? 3.5 * megabyte : 0)}`,
      100,
    ),
  'states that flap': flapping,
  'each certificate in each farm': certificatesInFarms,
  'new names in every reply': (socket, path) => {
    answers += 1;
    filled(socket, path, (at) => `${answers}-${at}-${'n'.repeat(200)}`);
  },
} as const satisfies Record<string, HostileReply>;

/** Replies that break a rule each; a hostile appliance sends one after the other. */
export const brokenReplies: readonly HostileReply[] = [
  (socket) => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
  (socket) => forever(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
  (socket) => forever(socket, 'HTTP/1.1 200 x\r\n'),
  (socket) => {
    socket.write('HTTP/1.1 200 x\r\n');
    forever(socket, 'X-A: b\r\n');
  },
  (socket) => {
    beginChunks(socket);
    forever(socket, `1;${'e'.repeat(10_000)}\r\n \r\n`);
  },
  (socket) => {
    beginChunks(socket, 'Trailer: X\r\n');
    socket.write('2\r\n{}\r\n0\r\n');
    forever(socket, 'X-T: t\r\n');
  },
  (socket) => {
    beginChunks(socket);
    forever(socket, `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`);
  },
  (socket) => socket.write(`HTTP/1.1 200 x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{`),
  (socket) => socket.write('HTTP/1.1 200 x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x'),
  (socket) => socket.write('HTTP/1.1 200 x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
  (socket) => socket.write('HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
  (socket) => socket.write('HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n'),
  (socket) => socket.write('\0\x01\x02 nonsense\r\n\r\n'),
  (socket) => socket.destroy(),
  (socket) => json(socket, '['.repeat(500_000)),
  (socket) => json(socket, `[${'1,'.repeat(3_900_000)}1]`),
  (socket) => json(socket, `{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join()}}`),
  (socket) =>
    json(socket, '{"__proto__":{"params":[]},"constructor":{"prototype":{"farms":1}},"params":{"__proto__":[]}}'),
  (socket) => json(socket, '{"params":1e999,"farms":{"length":4294967295}}'),
  (socket) => json(socket, `{"params":{"status":"${'s'.repeat(7 * megabyte)}"}}`),
  (socket) => json(socket, JSON.stringify({ error: 'true', message: 'm'.repeat(7 * megabyte) }), 400),
  (socket) => json(socket, '{"params":[{"farmname":"\\ud800\\u202e\\n"},{"farmname":[]},null,{}]}'),
  (socket) => {
    json(socket, '{"params":[]}');
    forever(socket, 'HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\n{}');
  },
  (socket) => {
    beginChunks(socket);
    const drip = setInterval(() => socket.write('1\r\n \r\n'), 900);
    socket.once('close', () => clearInterval(drip));
  },
];
