import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { boards } from './boards.ts';
import { importable } from './importable.ts';

const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));

/** The texts of dashboards/, by the names of the files; a variable chooses their data source. */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map(boards().map((board) => [`${board.uid}.json`, formatted(JSON.stringify(board, null, 2))]));
}

/**
 * The texts of deploy/grafana/import/, for grafana.com and for an import by hand: Grafana asks once
 * for the data source. Each is one line, because nobody reads them.
 */
export function importFiles(): ReadonlyMap<string, string> {
  return new Map(boards().map((board) => [`${board.uid}.json`, `${JSON.stringify(importable(board))}\n`]));
}

/** As `npm run format` would leave it. */
function formatted(json: string): string {
  const { status, stdout, stderr, error } = spawnSync(biome, ['format', '--stdin-file-path=dashboard.json'], {
    input: json,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`biome cannot format a dashboard: ${error?.message ?? stderr}`);
  return stdout;
}
