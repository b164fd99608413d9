import { appendFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { verifyAudit } from '../../../src/audit/verify.ts';
import { until } from '../../support/until.ts';
import { givenFile, linesOf } from '../../unit/audit/given-audit.ts';
import { startAppender } from './given-appender.ts';

const rounds = 20;

it('has every line that was acknowledged after 20 kills at random moments, and goes on with its chain each time', async () => {
  const file = givenFile();
  const acknowledged = new Map<number, string>();
  let torn = 0;
  let recovered = 0;

  for (let round = 1; round <= rounds; round += 1) {
    const appender = startAppender([file, '65536', '100']);
    const wanted = 1 + Math.floor(Math.random() * 500);
    await until(appender.printed, ({ length }) => length >= wanted);
    await appender.kill();
    for (const line of appender.printed()) {
      const [seq = '', request = ''] = line.split(' ');
      acknowledged.set(Number(seq), request);
    }
    const verification = await verifyAudit(file);
    expect(verification.faults).toEqual([]);
    expect(verification.last?.seq).toBeGreaterThanOrEqual(Math.max(...acknowledged.keys()));
    if (verification.torn) torn += 1;
    // A kill seldom tears a line, which is one write; a loss of power does.
    const isTearing = round % 4 === 0 && !verification.torn;
    if (isTearing) appendFileSync(file, `{"seq":${round},"ti`);
    // The process of the next round recovers it; after the last round none opens the file.
    if (round < rounds && (isTearing || verification.torn)) recovered += 1;
  }

  const { files, lines } = await verifyAudit(file);
  const all = files.flatMap(linesOf);
  const written = new Map(all.map(({ seq, request }) => [seq, request]));
  expect(acknowledged.size).toBeGreaterThan(rounds);
  for (const [seq, request] of acknowledged) expect(written.get(seq)).toBe(request);
  expect(all.filter(({ event }) => event === 'recovered').length).toBe(recovered);
  console.log(
    `killed ${rounds} times: ${acknowledged.size} lines acknowledged, ${lines} written in ${files.length} files, ${torn} lines torn by it`,
  );
}, 120_000);
