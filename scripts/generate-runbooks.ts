import { writeFileSync } from 'node:fs';
import { runbooks } from './runbooks.ts';

writeFileSync(new URL('../src/http/status-page/assets/runbooks.html', import.meta.url), runbooks());
