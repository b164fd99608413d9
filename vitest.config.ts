import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Real sockets, real processes and a machine of two cores: files side by side would only time each other out.
    maxWorkers: 2,
  },
});
