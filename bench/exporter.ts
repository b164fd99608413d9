import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readLogEntry } from './log-entry.ts';
import type { Usage } from './usage.ts';

/** The program as the image and the package have it, in a process of its own. */
export interface Exporter {
  readonly url: string;
  /** What it used since the last look. */
  usage(): Promise<Usage>;
  stop(): void;
}

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Builds what {@link startExporter} starts. */
export function buildExporter(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: repository, stdio: 'inherit' });
}

/** What it logs once a listener is there. */
export type Listening = 'listening' | 'admin gateway listening';

/** Resolves with the URL of that listener. */
export async function startExporter(file: string, listening: Listening): Promise<Exporter> {
  const child = fork('dist/main.js', [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'], {
    cwd: repository,
    execArgv: ['--import', './bench/usage-watch.js'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { stderr } = child;
  if (!stderr) throw new Error('the exporter has no log');
  let log = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the exporter ended with ${code}:\n${log}`)));
    const lines = createInterface({ input: stderr });
    // The rest is read away and not looked at, or it would fill the pipe, or the benchmark with work.
    lines.once('close', () => stderr.resume());
    lines.on('line', (line) => {
      const entry = readLogEntry(line);
      if (entry?.['msg'] === listening && typeof entry['url'] === 'string') {
        resolve(entry['url']);
        lines.close();
      } else if (log.length < 10_000) log += `${line}\n`;
    });
  });
  return {
    url,
    async usage() {
      const answered = once(child, 'message');
      child.send({});
      const [usage] = (await answered) as [Usage];
      return usage;
    },
    stop: () => child.connected && child.disconnect(),
  };
}
