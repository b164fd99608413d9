import { readFileSync, writeFileSync } from 'node:fs';
import { copyChartFiles } from './chart-files.ts';
import { type ValuesSchema, chartValueList, chartValues } from './docs/chart-values.ts';
import { adminTables, alertLists } from './docs/admin-tables.ts';
import { commandLists } from './docs/command-lists.ts';
import { limitLists } from './docs/limits.ts';
import { configurationJsonSchema, configurationTables } from './docs/configuration-tables.ts';
import { withTables } from './docs/markdown.ts';
import { metricsLists } from './docs/metrics-lists.ts';

const docs = new URL('../docs/', import.meta.url);
const chart = '../deploy/helm/zlb-exporter';

/** Returns what `npm run docs` writes, by the names of the files as seen from docs/. */
export function generatedDocs(): ReadonlyMap<string, string> {
  const values = JSON.parse(read(`${chart}/values.schema.json`)) as ValuesSchema;
  const tables = {
    'configuration.md': configurationTables(),
    'metrics.md': metricsLists(),
    'admin.md': adminTables(),
    'operations.md': alertLists(),
    'limits.md': limitLists(),
    'command-line.md': commandLists(),
    [`${chart}/README.md`]: { values: chartValueList(values) },
  };
  const documents = Object.entries(tables).map(([name, texts]) => [name, withTables(read(name), texts)] as const);
  return new Map([
    ...documents,
    ['configuration.schema.json', configurationJsonSchema()],
    [`${chart}/values.yaml`, chartValues(values)],
  ]);
}

function read(name: string): string {
  return readFileSync(new URL(name, docs), 'utf8');
}

if (import.meta.main) {
  for (const [name, text] of generatedDocs()) writeFileSync(new URL(name, docs), text);
  copyChartFiles();
}
