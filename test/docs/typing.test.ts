import { expect, it } from 'vitest';
import { openShell } from './typing.ts';
import { givenFolder } from '../support/folder.ts';

function givenShell() {
  const folder = givenFolder();
  return openShell({
    folder,
    env: { PATH: process.env['PATH'] ?? '' },
    substitutions: [{ written: /localhost:1/g, real: '127.0.0.1:2', shown: 'localhost:1' }],
    reset: () => {
      throw new Error('nothing is reset here');
    },
    close: async () => undefined,
  });
}

it('a failing command is reported with its line, at any place, and the next one is typed', async () => {
  const text = [
    'true',
    'false',
    'false && echo never',
    'echo one && false',
    'true | false | cat',
    'false || echo two',
    '[ -e /nowhere ] || (echo three)',
    'for each in a b; do echo $each; done',
    'ls /nowhere \\',
    '  --all',
    'echo $(false) four',
    'no-such-program',
    'false && true',
  ].join('\n');

  const { failures, printed } = await givenShell().type({ file: 'a.md', line: 10, text });

  expect(failures).toEqual([
    'a.md:12: exit code 1: false',
    'a.md:13: exit code 1: false && echo never',
    'a.md:14: exit code 1: echo one && false',
    'a.md:15: exit code 1: true | false | cat',
    expect.stringMatching(/^a\.md:19: exit code 2: ls/),
    'a.md:21: exit code 1: echo $(false) four',
    'a.md:22: exit code 127: no-such-program; not run here, so mark the block: <!-- not run: REASON -->',
    'a.md:23: exit code 1: false && true',
  ]);
  expect(printed).toContain('one\ntwo\nthree\na\nb\n');
});

it('a block sees variables of the previous one, and addresses are free ones', async () => {
  const shell = givenShell();
  await shell.type({ file: 'a.md', line: 1, text: "farm='a b' here=http://localhost:1\nexport other=c" });

  expect(
    await shell.type({ file: 'a.md', line: 5, text: 'echo "$farm" $other ${here#http://}; env | grep ^here' }),
  ).toEqual({
    failures: [],
    printed: 'a b c localhost:1\nhere=http://localhost:1\n',
  });
});
