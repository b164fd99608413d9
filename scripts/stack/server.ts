import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Program, type ProgramStart, reachable, ready, startProgram } from './program.ts';

/** A Prometheus or an Alertmanager that answers. */
export interface Server extends Program {
  readonly url: string;
}

export interface ServerStart {
  /** The folder of its configuration and data; created if it is missing. */
  readonly folder: string;
  /** `host:port`, or `:port` for every address. */
  readonly address: string;
  readonly config: string;
  /** Written beside the configuration, so that it can name them without a path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Another program than Debian's. */
  readonly command?: string | undefined;
  /** Flags beside those that every start has. */
  readonly args?: readonly string[] | undefined;
}

/** The differences between Prometheus and Alertmanager. */
interface ServerProgram extends ProgramStart {
  readonly configFile: string;
}

/** Starts Prometheus in a folder of its own; resolves once it is ready. */
export function startPrometheus(start: ServerStart): Promise<Server> {
  return startServer(start, {
    name: 'Prometheus',
    configFile: 'prometheus.yml',
    command: start.command ?? 'prometheus',
    remedy: 'install it (Debian: apt-get install prometheus), or give its path with --prometheus=PATH',
    args: [`--storage.tsdb.path=${join(start.folder, 'data')}`],
  });
}

/** Starts Alertmanager in a folder of its own; resolves once it is ready. It has no peers, unless flags name them. */
export function startAlertmanager(start: ServerStart): Promise<Server> {
  const { args = ['--cluster.listen-address='] } = start;
  return startServer(
    { ...start, args },
    {
      name: 'Alertmanager',
      configFile: 'alertmanager.yml',
      command: start.command ?? 'prometheus-alertmanager',
      remedy: 'install it (Debian: apt-get install prometheus-alertmanager), or give its path with --alertmanager=PATH',
      args: [`--storage.path=${join(start.folder, 'data')}`],
    },
  );
}

/**
 * Both programs have the same manners: a configuration file, a listen address, and a page that says
 * when they are ready.
 */
async function startServer(start: ServerStart, { configFile, ...program }: ServerProgram): Promise<Server> {
  const { folder, address, config, files, args = [] } = start;
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries({ ...files, [configFile]: config }))
    await writeFile(join(folder, file), text);
  const url = `http://${reachable(address)}`;
  const started = await startProgram({
    ...program,
    args: [
      `--config.file=${join(folder, configFile)}`,
      `--web.listen-address=${address}`,
      `--web.external-url=${url}/`,
      ...program.args,
      ...args,
    ],
  });
  try {
    await ready(started, `${url}/-/ready`);
  } catch (error) {
    await started.stop();
    throw error;
  }
  return { ...started, url };
}
