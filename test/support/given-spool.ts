import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSpool, type SpoolParts } from '../../src/gateway/spool.ts';

/** A spool in a folder that ends with the test. */
export async function givenSpool(parts: Partial<SpoolParts> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'zlb-spool-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const spool = createSpool({
    folder,
    maxBytes: 40_000_000,
    maxBytesPerPrincipal: 20_000_000,
    keepFreeBytes: 0,
    ...parts,
  });
  return { spool, folder };
}
