import { copyFileSync, readdirSync } from 'node:fs';
import { ruleFiles } from './rule-files.ts';

const root = new URL('../', import.meta.url);
const folder = 'deploy/helm/zlb-exporter/files';

/** Returns each file of the Helm chart that is a copy, with its original. */
export function chartFiles(): readonly (readonly [copy: string, original: string])[] {
  const boards = readdirSync(new URL('dashboards', root));
  return [
    ...ruleFiles.map((name) => [`${folder}/${name}`, `alerts/${name}`] as const),
    ...boards.map((name) => [`${folder}/dashboards/${name}`, `dashboards/${name}`] as const),
  ];
}

/** Copies them: Helm reads no file outside a chart, and complains about links at each call. */
export function copyChartFiles(): void {
  for (const [copy, original] of chartFiles()) copyFileSync(new URL(original, root), new URL(copy, root));
}
