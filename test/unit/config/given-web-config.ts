import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadWebSettings, type WebSettings } from '../../../src/config/web-settings.ts';
import { givenFolder } from '../../support/folder.ts';

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** Contents by name, in the folder of the configuration. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Loads a file `web.yml` with this text from a folder of its own. */
export async function loadWebText(text: string, { env = {}, files = {} }: Surroundings = {}): Promise<WebSettings> {
  const folder = givenFolder();
  for (const [name, contents] of Object.entries({ ...files, 'web.yml': text }))
    await writeFile(join(folder, name), contents);
  return await loadWebSettings({ file: join(folder, 'web.yml'), env });
}
