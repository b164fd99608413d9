import { expect, it } from 'vitest';
import { AdminError } from '../../../src/recipes/admin-error.ts';
import { execute } from '../../../src/requests/execution.ts';

it('describes a failed step in whole sentences', async () => {
  const run = () =>
    Promise.reject(
      new AdminError('Changes are frozen', {
        detail: 'alice is at work. Nothing was sent.',
        remedy: 'Wait',
        code: 'frozen',
      }),
    );

  const ending = await execute([{ title: 'Restart shop', run }], {
    send: () => Promise.resolve(),
    isSent: () => false,
  });

  expect(ending).toEqual({
    state: 'failed',
    lines: ['✗ Restart shop: Changes are frozen. alice is at work. Nothing was sent. Wait.'],
    code: 'frozen',
  });
});
