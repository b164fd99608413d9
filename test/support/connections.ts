import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/** Notes the TCP connections that this process tries, with any result, as `ADDRESS PORT`. */
export function watchConnections(): { readonly tried: () => readonly string[] } {
  // Its address is known after the hook has run.
  const wraps: { readonly address?: string; readonly port?: number }[] = [];
  const hook = createHook({
    init(_, type, __, resource) {
      if (type === 'TCPCONNECTWRAP') wraps.push(resource);
    },
  }).enable();
  onTestFinished(() => void hook.disable());
  return { tried: () => wraps.map(({ address, port }) => `${address} ${port}`) };
}

/** Counts the connections of this machine to some ports that are open, or about to be (Linux). */
export function openConnectionsTo(...ports: readonly number[]): number {
  const remotes = ports.map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`);
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
  return lines.filter((line) => {
    const [, , to = '', state = ''] = line.trim().split(/\s+/);
    return remotes.some((remote) => to.endsWith(remote)) && (state === '01' || state === '02');
  }).length;
}
