import { createHook } from 'node:async_hooks';
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
