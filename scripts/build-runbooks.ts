import { readFileSync, writeFileSync } from 'node:fs';
import { renderRunbooks } from '../src/pages/runbooks/render-runbooks.ts';

// The packages that render Markdown are for development only, so the build renders the runbooks.
const operations = readFileSync('docs/operations.md', 'utf8');
writeFileSync('dist/src/pages/assets/runbooks.html', renderRunbooks(operations));
