import { readFileSync } from 'node:fs';

export interface Instruction {
  /** `COPY`, `RUN`, … */
  readonly word: string;
  /** The flags before its arguments, by name: `from` of `--from=build`. */
  readonly flags: Readonly<Record<string, string>>;
  /** The arguments, on one line. */
  readonly text: string;
}

export interface Stage {
  readonly from: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** The `ARG` lines before the first stage, as `NAME=value`. */
  readonly globals: readonly string[];
  readonly stages: readonly Stage[];
}

/** Reads the Dockerfile of this repository, as far as it uses the language. */
export function readDockerfile(): Dockerfile {
  const lines = readFileSync('Dockerfile', 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const instructions = lines.map(readInstruction);
  const starts = instructions.flatMap(({ word }, index) => (word === 'FROM' ? [index] : []));
  return {
    globals: instructions.slice(0, starts[0]).map(({ text }) => text),
    stages: starts.map((start, index) => {
      const [from = '', , name = ''] = instructions[start]?.text.split(/\s+/) ?? [];
      return { from, name, instructions: instructions.slice(start + 1, starts[index + 1]) };
    }),
  };
}

/** The last stage: the image. */
export function imageStage({ stages }: Dockerfile): Stage {
  const last = stages.at(-1);
  if (!last) throw new Error('the Dockerfile has no stage');
  return last;
}

/** The text of the last instruction of a kind, which is the one that counts. */
export function lastOf({ instructions }: Stage, word: string): string {
  return instructions.findLast((instruction) => instruction.word === word)?.text ?? '';
}

/** `KEY=value KEY="value"` as an object. */
export function readPairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, key = '', quoted, plain]) => [
      key,
      quoted ?? plain ?? '',
    ]),
  );
}

function readInstruction(line: string): Instruction {
  const [, word = '', flags = '', text = ''] = /^(\w+)((?:\s+--\S+)*)\s+(.*)$/.exec(line) ?? [];
  return {
    word,
    flags: Object.fromEntries(
      [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
    ),
    text: text.trim(),
  };
}
