import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { shells } from './places.ts';
import { zshCompletion } from './zsh.ts';
import { type Command, UsageError } from '../command.ts';

export const completionOf = {
  bash: bashCompletion,
  fish: fishCompletion,
  zsh: zshCompletion,
} as const satisfies Readonly<Record<(typeof shells)[number], () => string>>;

export const completion: Command = async ({ arguments: [name = '', ...more], shell }) => {
  const named = shells.find((each) => each === name);
  if (named === undefined || more.length > 0)
    throw new UsageError(`name one shell of ${shells.join(', ')}: zlb-exporter completion bash`);
  await shell.write(Buffer.from(completionOf[named]()));
  return 0;
};
