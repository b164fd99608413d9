import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** Returns a file and all files of ours that it imports. */
function withImports(file: string): readonly string[] {
  const found = new Set([file]);
  for (const each of found)
    for (const [, path = ''] of readFileSync(each, 'utf8').matchAll(
      /^(?:im|ex)port (?!type )[^;]*? from '(\.[^']+)'/gm,
    ))
      found.add(resolve(each, '..', path));
  return [...found];
}

it('what an older Node.js runs after the sentence about its version uses nothing that it lacks', () => {
  const newer =
    /import\.meta\.(?:dirname|filename|main)|\.to(?:Sorted|Reversed|Spliced)\(|\.with\(|\bgroupBy\(|with \{ type/;

  const files = withImports(resolve('src/old-node.ts'));

  expect(files.length).toBeGreaterThan(2);
  expect(files.filter((file) => newer.test(readFileSync(file, 'utf8')))).toEqual([]);
});
