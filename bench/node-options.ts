import packageFile from '../package.json' with { type: 'json' };

/** Options of node as in `npm start`; the image and the unit have the same. */
export const nodeOptions = packageFile.scripts.start.match(/--\S+/g) ?? [];
