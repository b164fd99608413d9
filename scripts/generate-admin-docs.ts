import { readFileSync, writeFileSync } from 'node:fs';
import { adminDocument } from './admin-document.ts';

const file = new URL('../docs/admin.md', import.meta.url);
writeFileSync(file, adminDocument(readFileSync(file, 'utf8')));
