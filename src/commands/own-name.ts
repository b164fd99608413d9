/** Returns the command that starts this program: npm in a clone, whose `entry` is TypeScript, or the command of the package. */
export function ownName(entry: string, env: Readonly<Record<string, string | undefined>>): string {
  // With --silent, npm adds no lines of its own to the output.
  if (entry.endsWith('.ts')) return 'npm start --silent --';
  return env.npm_command === 'exec' ? 'npx zlb-exporter' : 'zlb-exporter';
}

/** Returns a function that replaces `zlb-exporter` in the commands of a text by `name`. */
export function spokenAs(name: string, commands: readonly string[]): (text: string) => string {
  const called = new RegExp(String.raw`\bzlb-exporter(?= (?:--|\[|(?:COMMAND|${commands.join('|')})\b))`, 'g');
  return (text) => text.replaceAll(called, name);
}
