import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { installable } from '../../scripts/test-programs.ts';

/**
 * Ends a run with what was not run, and why. In CI it is a failure where a package of Debian is
 * missing. `.ci/run` gets the numbers of tests in the file that TEST_COUNTS names.
 */
export default class NotRun implements Reporter {
  readonly #reasons = new Set<string>();

  onUserConsoleLog({ content }: { readonly content: string }): void {
    for (const [, reason = ''] of content.matchAll(/^NOT RUN: (.+)$/gm)) this.#reasons.add(reason);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const { TEST_COUNTS: counts, CI } = process.env;
    if (counts) appendFileSync(counts, `${countsOf(modules).join(' ')}\n`);
    for (const module of modules) {
      const skipped = testsOf(module, 'skipped');
      if (skipped > 0) console.warn(`NOT RUN: ${skipped} of ${testsOf(module)} tests of ${module.relativeModuleId}`);
    }
    for (const reason of this.#reasons) console.warn(`NOT RUN: ${reason}`);

    const missing = installable.filter(({ programs }) => programs.some((program) => this.#lacks(program)));
    if (missing.length === 0) return;
    const names = missing.flatMap(({ packages, fromPython }) => [
      ...packages,
      ...(fromPython ? [`${fromPython} by pipx`] : []),
    ]);
    console.warn(`They need ${names.join(', ')}: packages of Debian`);
    if (CI) process.exitCode = 1;
  }

  #lacks(program: string): boolean {
    return this.#reasons.has(`the tests that need ${program}`);
  }
}

/** Returns how many tests passed, failed and were skipped. A file that does not load failed. */
function countsOf(modules: readonly TestModule[]): readonly number[] {
  const sum = (state: TestState): number => modules.reduce((sum, module) => sum + testsOf(module, state), 0);
  const broken = modules.filter((module) => module.state() === 'failed' && testsOf(module, 'failed') === 0);
  return [sum('passed'), sum('failed') + broken.length, sum('skipped')];
}

type TestState = 'passed' | 'failed' | 'skipped';

function testsOf(module: TestModule, state?: TestState): number {
  return [...module.children.allTests(state)].length;
}
