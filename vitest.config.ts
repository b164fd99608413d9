import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** Minutes of fuzzing, simulated hours, killed processes: `npm run test:all` runs them. */
const long = [
  'test/fuzz/**/*.test.ts',
  'test/docs/{commands,named-commands,runbooks-even,runbooks-odd}.test.ts',
  'test/e2e/{alerting-scenes,changes-kill,console,dashboard-queries,distribution,icinga,log-output,package,permissions,repair-loop,rule-costs,silent-name-server,soak,stack,status-page,zabbix}.test.ts',
  'test/integration/{alert-cases,alert-gaps,descriptors,politeness,request-flood,send-page,twins}.test.ts',
  'test/integration/reload/storm.test.ts',
  'test/integration/systemd-install/install.test.ts',
  'test/integration/journal/{disk,kill,synced}.test.ts',
  'test/unit/scheduler/large-appliance.test.ts',
];

/** Incidents as long as real ones, and a fleet that is cut off: `npm run test:incidents` runs them. */
const incidents = ['test/e2e/{fleet-cut,incidents}.test.ts'];

/** Seconds that a person or an alert waits, and the usual ports: nothing else runs beside these. */
const alone = ['test/e2e/{alerting,hung-file,shutdown,start}.test.ts'];

// Groups run one after the other, in this order.
export default defineConfig({
  test: {
    globalSetup: ['test/support/temp-folder.ts'],
    reporters: [...configDefaults.reporters, './test/support/not-run.ts'],
    // Far above what each takes alone: a busy machine makes all of them slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // The programs that tests start, and the workers, compile their modules once and not each time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)) },
    projects: [
      // Files of a worker share the modules they import: importing takes longer than most of them.
      // A fixed seed for the properties, so that a failure is the same for everyone.
      project('unit', {
        include: ['test/unit/**/*.test.ts'],
        setupFiles: ['test/support/fixed-seed.ts'],
      }),
      project('integration', {
        include: ['test/{integration,recorded,docs}/**/*.test.ts'],
        maxWorkers: 4,
        sequence: { groupOrder: 1 },
      }),
      // They wait for other processes most of the time: the two together use all cores.
      project('e2e', {
        include: ['test/e2e/**/*.test.ts'],
        exclude: [...long, ...incidents, ...alone],
        maxWorkers: 4,
        sequence: { groupOrder: 1 },
      }),
      project('alone', { include: alone, maxWorkers: 1, sequence: { groupOrder: 2 } }),
      // Programs of the field that judge charts, workflows and scripts: `npm run test:judges`.
      {
        extends: true,
        test: { name: 'judges', include: ['test/judges/**/*.test.ts'], maxWorkers: 2, sequence: { groupOrder: 3 } },
      },
      // Prometheus of other versions: `npm run test:versions`.
      { extends: true, test: { name: 'versions', include: ['test/versions/**/*.test.ts'] } },
      { extends: true, test: { name: 'incidents', include: incidents, sequence: { groupOrder: 5 } } },
      // Many wait for alerts for minutes: one worker more than two cores.
      { extends: true, test: { name: 'long', include: long, maxWorkers: 3, sequence: { groupOrder: 4 } } },
    ],
  },
});

function project(name: string, test: TestProjectInlineConfiguration['test']) {
  return { extends: true as const, test: { name, exclude: long, isolate: false, maxWorkers: 2, ...test } };
}
