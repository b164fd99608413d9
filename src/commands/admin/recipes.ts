import type { Recipe } from '../../recipes/recipe.ts';
import { requestableRecipes } from '../../recipes/recipes.ts';
import { installActivation } from './certificates/install-activation.ts';
import { replaceCertificate } from './certificates/replace-certificate.ts';

/** All recipes of the command line. */
export const recipes: readonly Recipe[] = [...requestableRecipes, replaceCertificate, installActivation];
