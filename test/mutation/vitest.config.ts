import { defineConfig } from 'vitest/config';

/** The unit tests of what stryker.config.json mutates. */
export default defineConfig({
  test: {
    include: ['test/unit/{collectors,scheduler,state,metrics,admin/policy,admin/journal}/**/*.test.ts'],
    exclude: ['test/unit/scheduler/large-appliance.test.ts'],
    testTimeout: 30_000,
  },
});
