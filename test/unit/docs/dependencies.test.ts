import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (file: string): string => readFileSync(file, 'utf8');
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> };
const [, atRunTime = '', forDevelopment = ''] = read('docs/dependencies.md').split(/^## /m);

describe('docs/dependencies.md', () => {
  it.each([
    ['at run time', atRunTime, dependencies],
    ['for development', forDevelopment, devDependencies],
  ])('has every package that is needed %s, and no other', (_, section, packages = {}) => {
    const names = [...section.matchAll(/^- `([@a-z][^`]*)`: /gm)].map(([, name]) => name);

    expect(names).toEqual(Object.keys(packages));
  });

  it('counts the packages that ship', () => {
    const direct = Object.keys(dependencies ?? {}).length;
    const all = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev).length;

    expect(atRunTime).toContain(`${direct} packages, ${all} with`);
  });
});
