import * as fc from 'fast-check';

// `npm run test:all` has random seeds and many more cases, in test/fuzz/.
fc.configureGlobal({ seed: 1, numRuns: 30 });
