import { readFileSync, writeFileSync } from 'node:fs';
import { adminDocument, operationsDocument } from './document-tables.ts';
import { configurationJsonSchema, configurationPage } from './generate-configuration-docs.ts';
import { webConfigurationPage } from './generate-web-configuration-docs.ts';
import { metricsDocument } from './metrics-document.ts';
import { readRuleFiles } from './rule-files.ts';

const docs = new URL('../docs/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, docs), 'utf8');

/** Returns what `npm run docs` writes, by the names of the files in docs/. */
export function generatedDocs(): ReadonlyMap<string, string> {
  return new Map([
    ['configuration.md', configurationPage()],
    ['configuration.schema.json', configurationJsonSchema()],
    ['web-configuration.md', webConfigurationPage()],
    ['metrics.md', metricsDocument()],
    ['admin.md', adminDocument(read('admin.md'))],
    ['operations.md', operationsDocument(read('operations.md'), readRuleFiles())],
  ]);
}

if (import.meta.main) for (const [name, text] of generatedDocs()) writeFileSync(new URL(name, docs), text);
