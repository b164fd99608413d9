import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { genesis, openHead } from '../../../../src/admin/journal/chain.ts';
import { AuditFile } from '../../../../src/admin/journal/file.ts';
import { verifyAudit } from '../../../../src/admin/journal/verify.ts';
import { givenLog } from '../../scheduler/given-log.ts';
import { givenFile, givenRecord } from './given-audit.ts';

it('takes lines back that are written when the head cannot be: the audit has no call that was refused', async () => {
  const file = givenFile();
  const head = await openHead(file);
  const disk = { isFull: true };
  const audit = new AuditFile({
    file,
    maxBytes: 1_048_576,
    log: givenLog().log,
    handle: await open(file, 'w+', 0o600),
    last: genesis,
    length: 0,
    head: {
      ...head,
      async write(position) {
        if (disk.isFull) throw new Error('no room is left');
        await head.write(position);
      },
    },
    lock: { isHeld: () => Promise.resolve(true), release: () => Promise.resolve() },
  });
  onTestFinished(() => audit.close());
  const entries = [{ record: givenRecord(), time: '2026-11-20T08:00:00.000Z' }];

  await expect(audit.write(entries)).rejects.toThrow('no room is left');
  const refused = statSync(file).size;
  disk.isFull = false;

  expect(refused).toBe(0);
  expect(await audit.write(entries)).toMatchObject([{ seq: 1 }]);
  expect(await verifyAudit(file)).toMatchObject({ lines: 1, faults: [] });
});
