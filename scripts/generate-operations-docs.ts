import { readFileSync, writeFileSync } from 'node:fs';
import { operationsDocument } from './operations-document.ts';
import { readRuleFiles } from './rule-files.ts';

const file = new URL('../docs/operations.md', import.meta.url);

writeFileSync(file, operationsDocument(readFileSync(file, 'utf8'), readRuleFiles()));
