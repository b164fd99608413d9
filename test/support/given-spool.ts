import { onTestFinished } from 'vitest';
import { createSpool, type SpoolParts } from '../../src/admin/calls/spool.ts';
import { givenFolder } from './folder.ts';
import { openFiles } from './open-files.ts';
import { untilIs } from './until.ts';

/** A spool in a folder that ends with the test, which leaves no file of it open. */
export async function givenSpool(parts: Partial<SpoolParts> = {}) {
  const folder = givenFolder();
  const spool = createSpool({
    folder,
    maxBytes: 40_000_000,
    maxBytesPerPrincipal: 20_000_000,
    keptBytes: 0,
    keepFreeBytes: 0,
    ...parts,
  });
  onTestFinished(() => untilIs(() => openFiles(folder).length, 0));
  return { spool, folder };
}
