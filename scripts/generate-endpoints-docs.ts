import { writeFileSync } from 'node:fs';
import { endpointsDocument } from './endpoints-document.ts';

writeFileSync(new URL('../docs/endpoints.md', import.meta.url), endpointsDocument());
