// Stands alone because the older commit has another one, see load-results.ts.
export { checkResponse as checkAnswer } from '../../src/appliance/response.ts';
