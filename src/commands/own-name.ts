/** How this program is called where its first file, `entry`, is: a clone has TypeScript and npm, a package has its command. */
export function ownName(entry: string, env: Readonly<Record<string, string | undefined>>): string {
  // Silent, or npm's own lines would go before what is piped on, and behind what fails.
  if (entry.endsWith('.ts')) return 'npm start --silent --';
  return env.npm_command === 'exec' ? 'npx zlb-exporter' : 'zlb-exporter';
}

/** Texts call the program `zlb-exporter`; the result makes of them what can be typed here. */
export function spokenAs(name: string, commands: readonly string[]): (text: string) => string {
  const called = new RegExp(String.raw`\bzlb-exporter(?= (?:--|\[|(?:COMMAND|${commands.join('|')})\b))`, 'g');
  return (text) => text.replaceAll(called, name);
}
