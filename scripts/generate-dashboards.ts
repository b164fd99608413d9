import { mkdirSync, writeFileSync } from 'node:fs';
import { dashboardFiles } from './dashboards/files.ts';

const folder = new URL('../dashboards/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, text] of dashboardFiles()) writeFileSync(new URL(name, folder), text);
