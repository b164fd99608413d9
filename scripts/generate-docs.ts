import { readFileSync, writeFileSync } from 'node:fs';
import { copyChartFiles } from './chart-files.ts';
import { adminTables, alertLists } from './docs/admin-tables.ts';
import { commandLists } from './docs/command-lists.ts';
import { limitLists } from './docs/limits.ts';
import { configurationJsonSchema, configurationTables } from './docs/configuration-tables.ts';
import { withTables } from './docs/markdown.ts';
import { metricsLists } from './docs/metrics-lists.ts';

const docs = new URL('../docs/', import.meta.url);

/** Returns what `npm run docs` writes, by the names of the files in docs/. */
export function generatedDocs(): ReadonlyMap<string, string> {
  const tables = {
    'configuration.md': configurationTables(),
    'metrics.md': metricsLists(),
    'admin.md': adminTables(),
    'operations.md': alertLists(),
    'limits.md': limitLists(),
    'command-line.md': commandLists(),
  };
  const documents = Object.entries(tables).map(
    ([name, texts]) => [name, withTables(readFileSync(new URL(name, docs), 'utf8'), texts)] as const,
  );
  return new Map([...documents, ['configuration.schema.json', configurationJsonSchema()]]);
}

if (import.meta.main) {
  for (const [name, text] of generatedDocs()) writeFileSync(new URL(name, docs), text);
  copyChartFiles();
}
