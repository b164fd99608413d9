import { describe, expect, it } from 'vitest';
import { lineWith, shellLines } from '../../../scripts/new-user/readme-commands.ts';

const fence = '```';
const document = [
  'Try it:',
  `${fence}sh\nnpm ci && npm start   # a demonstration\n${fence}`,
  `${fence}yaml\nrun: npm start\n${fence}`,
  `1. First\n\n   ${fence}sh\n   npm run stack\n   ${fence}`,
].join('\n\n');

describe('the commands that a document tells a newcomer', () => {
  it('are the lines of its shell blocks, those in lists too', () => {
    expect(shellLines(document)).toEqual(['npm ci && npm start', 'npm run stack']);
  });

  it('are missed when they are not there', () => {
    expect(lineWith(shellLines(document), 'npm', 'stack')).toBe('npm run stack');
    expect(() => lineWith(shellLines(document), 'npx')).toThrow('the README has no command with npx');
  });
});
