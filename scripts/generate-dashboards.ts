import { mkdirSync, writeFileSync } from 'node:fs';
import { dashboardFiles, importFiles } from './dashboards/files.ts';

function write(path: string, files: ReadonlyMap<string, string>): void {
  const folder = new URL(path, import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(new URL(name, folder), text);
}

write('../dashboards/', dashboardFiles());
write('../deploy/grafana/import/', importFiles());
