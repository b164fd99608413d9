import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Workflow {
  readonly permissions: unknown;
  readonly concurrency: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: unknown;
  readonly 'timeout-minutes': unknown;
}

const { scripts, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'scripts' | 'devDependencies',
  Record<string, string>
>;
const workflows = globSync('.github/workflows/*.yml');

describe.each(workflows)('%s', (file) => {
  const workflow = parse(readFileSync(file, 'utf8')) as Workflow;
  const isRelease = file.endsWith('/release.yml');

  it('may read the sources, and write nothing but a release', () => {
    const granted = Object.entries(workflow.jobs).filter(([, { permissions }]) => permissions !== undefined);

    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(Object.fromEntries(granted.map(([name, { permissions }]) => [name, permissions]))).toEqual(
      isRelease
        ? {
            image: { contents: 'read', packages: 'write', 'id-token': 'write' },
            publish: { contents: 'write', 'id-token': 'write', attestations: 'write' },
          }
        : {},
    );
  });

  it('ends by itself, and runs once at a time; only a release is not cancelled', () => {
    expect(workflow.concurrency).toMatchObject({ 'cancel-in-progress': !isRelease });
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toEqual(expect.any(Number));
  });
});

describe.each([...workflows, ...globSync('.github/actions/*/action.yml')])('%s', (file) => {
  const text = readFileSync(file, 'utf8');

  it('pins every action by its commit, with its version beside it', () => {
    const actions = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action);
    const pinned = /^(?:[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/actions\/\w+)$/;

    expect(actions).not.toEqual([]);
    expect(actions.filter((action) => !pinned.test(action))).toEqual([]);
  });

  it('runs scripts that package.json has', () => {
    const names = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);

    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(names));
  });

  it('runs files that are there', () => {
    const files = [...text.matchAll(/scripts\/[\w./-]+/g)].map(([path]) => path);

    expect(files.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('the files for editors, forges and version managers', () => {
  it('name the same Node.js as package.json', () => {
    expect(readFileSync('.node-version', 'utf8').trim()).toBe(devDependencies['node']);
  });

  it.each(globSync('.github/**/*.yml'))('are YAML without mistakes: %s', (file) => {
    expect(parse(readFileSync(file, 'utf8'), { strict: true, uniqueKeys: true })).toEqual(expect.any(Object));
  });

  it.each(globSync('.github/ISSUE_TEMPLATE/[!c]*.yml'))(
    'ask for version and check, and warn of secrets: %s',
    (file) => {
      const form = parse(readFileSync(file, 'utf8')) as {
        body: { id?: string; type: string; attributes: object; validations?: { required: boolean } }[];
      };
      const required = form.body.filter(({ validations }) => validations?.required).map(({ id }) => id);

      expect(required).toEqual(expect.arrayContaining(['version', 'check']));
      expect(JSON.stringify(form.body[0])).toContain('No secrets');
    },
  );
});
