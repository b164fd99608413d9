import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

it.each(['json', 'logfmt'])('an appliance name cannot send control characters to the terminal in %s', (format) => {
  const farm = 'a\u009b2J\u202e\u200b';
  const script = `
    import { createLog } from ${JSON.stringify(resolve('src/app/log.ts'))};
    createLog({ level: 'info', format: ${JSON.stringify(format)} }).logger.info(${JSON.stringify({ farm })});`;

  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });

  expect(stderr).toContain(String.raw`"a\u009b2J\u202e\u200b"`);
  expect(stderr).not.toMatch(/[\u009b\u202e\u200b]/);
});

it('a secret that is logged by mistake is redacted, also inside of another value', () => {
  const secrets = { password: 'canary-1', api_key: 'canary-2', key: 'canary-3' };
  const script = `
    import { createLog } from ${JSON.stringify(resolve('src/app/log.ts'))};
    createLog({ level: 'info' }).logger.info(${JSON.stringify({ ...secrets, sent: { ...secrets, farm: 'shop' } })});`;

  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });

  expect(stderr).toContain('"farm":"shop"');
  expect(stderr).not.toContain('canary');
});
