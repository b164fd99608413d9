import { mkdirSync, writeFileSync } from 'node:fs';
import { drawnPictures } from './pictures/drawn-pictures.ts';

// Draws the pictures of docs/architecture.md and docs/admin.md. `npm run docs` runs it;
// test/unit/docs/pictures.test.ts compares.
const folder = new URL('../docs/pictures/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, svg] of drawnPictures()) writeFileSync(new URL(name, folder), svg);
