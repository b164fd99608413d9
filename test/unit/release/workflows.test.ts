import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { installable } from '../../../scripts/test-programs.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const jobs = globSync('.github/workflows/*.yml').flatMap((file) => {
  const workflow = parse(readFileSync(file, 'utf8')) as { jobs: Record<string, { readonly steps: readonly Step[] }> };
  return Object.entries(workflow.jobs).map(([name, { steps }]) => ({ name: `${file}: ${name}`, steps }));
});

/** The suite whose programs an npm script installs. */
function suiteOf(script: string): string {
  return /install-programs\.ts (\w+)/.exec(scripts[script] ?? '')?.[1] ?? '';
}

describe('the workflows', () => {
  it('run scripts that are there', () => {
    const called = jobs.flatMap(({ name, steps }) =>
      steps.flatMap(({ run = '' }) =>
        [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => ({ name, script })),
      ),
    );

    expect(called.length).toBeGreaterThan(5);
    expect(called.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  it('install the programs of the tests that they run, before', () => {
    const wrong = jobs.filter(({ steps }) => {
      const setup = steps.find(({ uses }) => uses === './.github/actions/setup');
      const needed = steps.flatMap(({ run = '' }) =>
        [...run.matchAll(/npm run ([\w:-]+)/g)].flatMap(([, script = '']) => suiteOf(script) || []),
      );
      return needed.some((suite) => suite !== setup?.with?.['programs']);
    });

    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('name suites that have programs', () => {
    const named = jobs.flatMap(({ steps }) => steps.flatMap((step) => step.with?.['programs'] ?? []));

    expect(new Set(named)).toEqual(new Set(['all', 'judges', 'test']));
    expect(named.filter((name) => !installable.some(({ suites }) => (suites as unknown[]).includes(name)))).toEqual([]);
  });
});
