import packageFile from '../package.json' with { type: 'json' };

const { start } = packageFile.scripts;

/** Options of node as in `npm start`; the image and the unit have the same. */
export const nodeOptions: readonly string[] = start.match(/--\S+/g) ?? [];

/** What `npm start` adds to its environment; the image and the unit do the same. */
export const nodeEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  [...start.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
);
