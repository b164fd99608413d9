import { resolve } from 'node:path';

import { isRecord } from '../lib/check.ts';
import { applianceExample } from './appliance-schema.ts';
import type { Files } from './files.ts';
import type { Path, Problems } from './problems.ts';
import type { Environment } from './substitute.ts';
import { readYamlFile, type Source } from './yaml-file.ts';

export interface ApplianceFilesParts {
  readonly source: Source;
  readonly env: Environment;
  readonly files: Pick<Files, 'list' | 'readText'>;
  readonly problems: Problems;
}

/** An appliance that a file lists, and its position there. */
interface Listed {
  readonly value: unknown;
  readonly file: Source;
  readonly index: number;
}

/**
 * Appends the appliances of `appliance_files` to those of the source; each keeps the location where
 * it is written.
 */
export async function withApplianceFiles({ source, env, files, problems }: ApplianceFilesParts): Promise<Source> {
  const { value } = source;
  if (!isRecord(value) || !Array.isArray(value.appliance_files)) return source;
  const own: unknown = value.appliances ?? [];
  if (!Array.isArray(own)) return source;

  const listed: Listed[] = [];
  for (const [index, pattern] of value.appliance_files.entries()) {
    if (typeof pattern !== 'string') continue;
    const folder = source.folderOf(['appliance_files', index]);
    const place = source.locate(['appliance_files', index]);
    const found = await files.list(resolve(folder, pattern));
    if ('problem' in found) {
      problems.report(place, `${found.problem}. Let the exporter read it, or take the pattern out`);
      continue;
    }
    for (const file of found.value) {
      const remedy = `Put it there, or take it out of ${place.key}`;
      const minimalContent = 'an empty list is []';
      const read = await readYamlFile({ file, remedy, minimalContent, env, readText: files.readText, problems });
      if (read) listed.push(...appliancesOf(read, file, problems));
    }
  }
  return joined(source, { ...value, appliances: [...own, ...listed.map((each) => each.value)] }, own.length, listed);
}

function appliancesOf(file: Source, name: string, problems: Problems): readonly Listed[] {
  if (Array.isArray(file.value)) return file.value.map((value: unknown, index) => ({ value, file, index }));
  problems.report(
    { file: name, key: '' },
    `must be a list of appliances, such as ${JSON.stringify([applianceExample])}; an empty list is []`,
  );
  return [];
}

function joined(source: Source, value: unknown, own: number, listed: readonly Listed[]): Source {
  const origin = (path: Path): { readonly source: Source; readonly path: Path } => {
    const [key, index, ...rest] = path;
    const found = key === 'appliances' && typeof index === 'number' ? listed[index - own] : undefined;
    return found ? { source: found.file, path: [found.index, ...rest] } : { source, path };
  };
  return {
    value,
    folderOf(path) {
      const at = origin(path);
      return at.source.folderOf(at.path);
    },
    locate(path, part) {
      const at = origin(path);
      return at.source.locate(at.path, part);
    },
  };
}
