import { expect, it } from 'vitest';
import { certificateSteps } from '../../../../src/admin/recipes/certificate-steps.ts';
import { readNewCertificate } from '../../../../src/admin/recipes/new-certificate.ts';
import { issue } from '../../../support/issue.ts';
import { givenRecipe } from './given-recipe.ts';

it('a certificate that reached the store after the plan is not uploaded again', async () => {
  const { cert, key } = issue();
  const newCertificate = readNewCertificate({ path: 'c', text: cert }, { path: 'k', text: key }, { nowMs: Date.now() });
  const calls = {
    read: () => Promise.resolve({ params: [{ file: newCertificate.file }] } as never),
    readText: () => Promise.resolve(cert),
  };
  const [upload] = certificateSteps(givenRecipe({ calls }), {
    farmname: 'shop',
    newCertificate,
    isStored: false,
    old: 'old.pem',
    position: 0,
    count: 1,
    keepsBoth: false,
    isAttached: false,
  });

  const said = await upload?.run(() => Promise.reject(new Error('uploaded again')), givenRecipe({ calls }).calls);

  expect(said).toBe(`${newCertificate.file} is in the store already.`);
});
