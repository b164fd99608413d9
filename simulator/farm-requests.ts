import { connect, type Socket } from 'node:net';
import { certificateDate } from './dates.ts';
import { wandering } from './traffic.ts';
import { type HttpFarm, type Service, shownStatus } from './world-farms.ts';
import type { World } from './world.ts';

/** Requests a second for a connection. */
const perConnection = 0.05;

/** Returns the lines that the HTTP farms of an appliance log in a second (docs/request-log.md). */
function requestLines(world: World, nowMs: number, random: () => number): readonly string[] {
  const date = certificateDate(nowMs).slice(0, 15);
  return [...world.farms.values()]
    .filter((farm) => farm.profile === 'http')
    .filter(({ running }) => running)
    .flatMap((farm) => farm.services.flatMap((service) => linesOf(world, { farm, service, nowMs, random })))
    .map((line) => `<134>${date} ${world.hostname} ${world.proxy}: ${line}`);
}

interface Serving {
  readonly farm: HttpFarm;
  readonly service: Service;
  readonly nowMs: number;
  readonly random: () => number;
}

function linesOf(world: World, { farm, service, nowMs, random }: Serving): readonly string[] {
  const { backends } = service;
  if (backends.length === 0) return [];
  const serving = backends.filter(({ status }) => shownStatus(status) === 'up');
  const isZproxy = world.proxy === 'zproxy';
  const head = (backend: string) =>
    `[f:${farm.name}][th:7f3a5c00] [st:9][svc:${service.id}][bk:${backend}][cl:203.0.113.9]`;
  if (serving.length === 0 && isZproxy) return [`${head('-')}(error) e503 no backend "Host:" "GET / HTTP/1.1"`];
  if (serving.length === 0)
    return [`${farm.name}, service ${service.id}, (7f3a5c000700) e503 no back-end "GET / HTTP/1.1" from 203.0.113.9 -`];
  const connections = serving.reduce((sum, { established }) => sum + established, 0);
  const expected = wandering(world, `${farm.name}${service.id}requests`, perConnection * connections, nowMs);
  const failing = backends.some(({ status }) => status === 'down') ? 0.02 : 0.0005;
  return Array.from({ length: Math.floor(expected + random()) }, () => {
    const { ip, port } = serving[Math.floor(random() * serving.length)] ?? { ip: '', port: 0 };
    const code = random() < failing ? pick(['502', '503'], random) : pick(usualCodes, random);
    // Most are fast, and one of fifty is not.
    const seconds = 0.01 + 0.15 * random() ** 3 + (random() < 0.02 ? 2 * random() : 0);
    const bytes = code === '304' ? 0 : Math.round(300 + 40_000 * random() ** 4);
    if (isZproxy)
      return `${head(`${ip}:${port}`)}(established) host:${farm.name}.example.com - "GET / HTTP/1" "HTTP/1.1 ${code} OK" ${bytes} "" "Mozilla/5.0"`;
    return `${farm.name}, ${farm.name}.example.com 203.0.113.9 - - [${logDate(nowMs)}] "GET / HTTP/1.1" ${code} ${bytes} "" "Mozilla/5.0" (${service.id} -> ${ip}:${port}) ${seconds.toFixed(3)} sec`;
  });
}

const usualCodes = [...Array.from({ length: 17 }, () => '200'), '304', '302', '404'];

function pick(words: readonly string[], random: () => number): string {
  return words[Math.floor(random() * words.length)] ?? '200';
}

/** Formats `26/Nov/2026:04:17:34 +0000`. */
function logDate(ms: number): string {
  const [, day, month, year, clock] = new Date(ms).toUTCString().split(/,? /);
  return `${day}/${month}/${year}:${clock} +0000`;
}

/**
 * Sends these lines to the remote syslog of the world, as long as it has one, and drops them while
 * nobody is there. Returns a function that ends it.
 */
export function sendRequestLines(world: World, { from, now }: { readonly from: string; readonly now: () => number }) {
  let socket: Socket | undefined;
  let connected = '';
  function end(): void {
    socket?.destroy();
    socket = undefined;
  }
  const timer = setInterval(() => {
    const { ip, port } = world.remoteSyslog ?? { ip: '', port: 0 };
    if (connected !== `${ip} ${port}`) end();
    connected = `${ip} ${port}`;
    if (ip === '') return;
    socket ??= connect({ host: ip, port, localAddress: from }).on('error', end).on('close', end);
    for (const line of requestLines(world, now(), Math.random)) socket.write(`${line}\n`);
  }, 1_000);
  return () => {
    clearInterval(timer);
    end();
  };
}
