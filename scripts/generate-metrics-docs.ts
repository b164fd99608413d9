import { writeFileSync } from 'node:fs';
import { metricsDocument } from './metrics-document.ts';

writeFileSync(new URL('../docs/metrics.md', import.meta.url), metricsDocument());
