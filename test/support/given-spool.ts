import { createSpool, type SpoolParts } from '../../src/admin/calls/spool.ts';
import { givenFolder } from './folder.ts';

/** A spool in a folder that ends with the test. */
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
  return { spool, folder };
}
