import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { givenFolder } from './folder.ts';

/**
 * Starts a name server that says 127.0.0.1 for each name, and nothing for those that are silent.
 * Programs started `under` it have no other one.
 */
export async function startNameServer(isSilent: (name: string) => boolean) {
  // The C library asks at port 53 only, so each has an address of its own.
  const address = `127.53.${randomInt(256)}.${randomInt(1, 255)}`;
  const asked: string[] = [];
  let silent = isSilent;
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    if (silent(name)) return;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x81_80, 2);
    head.writeUInt16BE(type === 1 ? 1 : 0, 6);
    // No additional records, which the query may have.
    head.writeUInt16BE(0, 10);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
    socket.send([head, query.subarray(12, end), ...(type === 1 ? [record] : [])], port, address);
  });
  socket.bind(53, address);
  await once(socket, 'listening');
  const file = join(givenFolder(), 'resolv.conf');
  writeFileSync(file, `nameserver ${address}\n`);
  return {
    /** The names that were asked for, each at least twice: for both families. */
    asked,
    under: ['unshare', '--mount', 'sh', '-c', `mount --bind ${file} /etc/resolv.conf && exec "$@"`, 'sh'],
    silence(isSilent: (name: string) => boolean) {
      silent = isSilent;
    },
  };
}

/** Parses the only question of a query. */
function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** True where a program can get another name server; says so loudly when not. */
export function canReplaceNameServer(): boolean {
  const bind = 'mount --bind /dev/null /etc/resolv.conf';
  const can = spawnSync('unshare', ['--mount', 'sh', '-c', bind], { stdio: 'ignore' }).status === 0;
  if (!can) console.warn('NOT RUN: the tests that need a name server; they want root and unshare of util-linux');
  return can;
}
