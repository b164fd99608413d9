// Stands alone because the older commit has another one, see load-results.ts.
export { checkAnswer } from '../../src/appliance/answer.ts';
