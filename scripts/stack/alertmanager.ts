import { join } from 'node:path';
import { type Server, type ServerStart, startServer } from './server.ts';

/** Starts Alertmanager in a folder of its own; resolves once it is ready. */
export function startAlertmanager(start: ServerStart): Promise<Server> {
  return startServer({
    ...start,
    name: 'Alertmanager',
    configFile: 'alertmanager.yml',
    command: start.command ?? 'prometheus-alertmanager',
    remedy: 'install it (Debian: apt-get install prometheus-alertmanager), or give its path with --alertmanager=PATH',
    // One Alertmanager has no others to gossip with, and needs no port for that.
    args: [`--storage.path=${join(start.folder, 'data')}`, '--cluster.listen-address=', ...(start.args ?? [])],
  });
}
