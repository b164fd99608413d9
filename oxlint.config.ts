import { basename } from 'node:path';
import { defineConfig, type OxlintOverride } from 'oxlint';

interface Room {
  readonly floor: number;
  /** The folders that it may import from, beside itself and `lib`. */
  readonly imports: readonly string[];
}

/**
 * The folders of `src/`, and what each may import. The linter refuses the rest;
 * docs/architecture.md shows the layers.
 */
export const rooms: Readonly<Record<string, Room>> = {
  commands: {
    floor: 6,
    imports: [
      'app',
      'config',
      'appliance',
      'collectors',
      'scheduler',
      'state',
      'server',
      'history',
      'admin/http',
      'admin/changes',
      'admin/recipes',
      'admin/calls',
      'admin/policy',
      'admin/journal',
    ],
  },
  app: {
    floor: 5,
    imports: [
      'config',
      'appliance',
      'metrics',
      'collectors',
      'scheduler',
      'state',
      'request-log',
      'history',
      'server',
      'pages',
      'admin/http',
      'admin/changes',
      'admin/recipes',
      'admin/calls',
      'admin/policy',
      'admin/journal',
    ],
  },
  'admin/http': {
    floor: 4,
    imports: [
      'config',
      'appliance',
      'scheduler',
      'server',
      'pages',
      'admin/changes',
      'admin/recipes',
      'admin/calls',
      'admin/policy',
      'admin/journal',
    ],
  },
  server: {
    floor: 4,
    imports: ['config', 'metrics', 'collectors', 'scheduler', 'state', 'history', 'pages'],
  },
  pages: {
    floor: 4,
    imports: ['metrics', 'collectors', 'state', 'history'],
  },
  scheduler: {
    floor: 3,
    imports: ['appliance', 'metrics', 'collectors', 'state'],
  },
  state: {
    floor: 3,
    imports: ['appliance', 'collectors'],
  },
  'request-log': {
    floor: 3,
    imports: ['config', 'metrics', 'state'],
  },
  history: {
    floor: 3,
    imports: ['appliance', 'metrics', 'collectors', 'state'],
  },
  'admin/changes': {
    floor: 3,
    imports: ['appliance', 'admin/recipes', 'admin/calls', 'admin/policy', 'admin/journal'],
  },
  'admin/recipes': {
    floor: 3,
    imports: ['appliance', 'collectors', 'admin/calls', 'admin/policy'],
  },
  'admin/calls': {
    floor: 3,
    imports: ['appliance', 'metrics', 'collectors', 'history', 'admin/policy', 'admin/journal'],
  },
  'admin/policy': {
    floor: 3,
    imports: ['appliance', 'admin/journal'],
  },
  'admin/journal': { floor: 3, imports: [] },
  collectors: {
    floor: 2,
    imports: ['appliance', 'metrics'],
  },
  appliance: { floor: 1, imports: [] },
  metrics: { floor: 1, imports: [] },
  lib: { floor: 0, imports: [] },
  config: { floor: 0, imports: [] },
};

const folders = Object.keys(rooms);

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'import', 'promise', 'node', 'vitest', 'oxc'],
  categories: {
    correctness: 'error',
    suspicious: 'error',
    perf: 'error',
  },
  env: {
    node: true,
    es2024: true,
  },
  ignorePatterns: ['dist', 'node_modules'],
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'no-console': 'error',
    'no-await-in-loop': 'off',
    'no-underscore-dangle': 'off',
    'no-control-regex': 'off',
    'no-shadow': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'promise/always-return': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'oxc/no-map-spread': 'off',
    'oxc/no-async-endpoint-handlers': 'off',
    'unicorn/prefer-set-has': 'off',
  },
  overrides: [
    ...Object.entries(rooms).map(([folder, { floor, imports }]) =>
      refuse({
        files: `src/${folder}/**`,
        folders: [...folders, ...(folder === 'commands' ? [] : ['simulator'])].filter(
          (other) => other !== folder && other !== 'lib' && !imports.includes(other),
        ),
        message: `Floor ${floor}: src/${folder} may import ${['lib', ...imports].join(', ')} (docs/architecture.md).`,
      }),
    ),
    refuse({
      files: 'simulator/**',
      folders: folders.filter((folder) => folder !== 'lib' && folder !== 'appliance'),
      // So that it cannot repeat a mistake of the client.
      modules: ['**/appliance/*.ts', '!**/appliance/route.ts'],
      message: 'The simulator imports lib, appliance/api and appliance/route.ts only (docs/architecture.md).',
    }),
    {
      files: ['src/**', 'simulator/**'],
      rules: { 'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }] },
    },
    {
      files: [
        'oxlint.config.ts',
        'vitest.config.ts',
        'test/mutation/vitest.config.ts',
        'test/support/{temp-folder,not-run}.ts',
      ],
      rules: {
        'import/no-default-export': 'off',
      },
    },
    {
      files: ['test/**', 'bench/**', 'scripts/**'],
      rules: {
        'no-console': 'off',
        'typescript/no-non-null-assertion': 'off',
        'vitest/no-conditional-expect': 'off',
        'vitest/valid-expect': [
          'error',
          {
            maxArgs: 2,
          },
        ],
        'vitest/expect-expect': 'off',
        'vitest/require-to-throw-message': 'off',
        'oxc/no-accumulating-spread': 'off',
        'typescript/restrict-template-expressions': 'off',
        'typescript/no-misused-spread': 'off',
        'typescript/unbound-method': 'off',
      },
    },
  ],
});

interface Refusal {
  readonly files: string;
  readonly folders: readonly string[];
  /** Patterns of single files; `!` excepts one. */
  readonly modules?: readonly string[];
  readonly message: string;
}

function refuse(rule: Refusal): OxlintOverride {
  // `admin/policy` is imported as `../policy/policy.ts` by its neighbours.
  const group = [...rule.folders.map((folder) => `**/${basename(folder)}/**`), ...(rule.modules ?? [])];
  return {
    files: [rule.files],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ group, message: rule.message }] }] },
  };
}
