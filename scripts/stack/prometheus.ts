import { join } from 'node:path';
import { type Server, type ServerStart, startServer } from './server.ts';

/** Starts Prometheus in a folder of its own; resolves once it is ready. */
export function startPrometheus(start: ServerStart): Promise<Server> {
  return startServer({
    ...start,
    name: 'Prometheus',
    configFile: 'prometheus.yml',
    command: start.command ?? 'prometheus',
    remedy: 'install it (Debian: apt-get install prometheus), or give its path with --prometheus=PATH',
    args: [`--storage.tsdb.path=${join(start.folder, 'data')}`, ...(start.args ?? [])],
  });
}
