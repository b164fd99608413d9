import { readFileSync } from 'node:fs';

// Prints the lines of CHANGELOG.md about the version of package.json, or of the tag that is given.
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const [tag = `v${version}`] = process.argv.slice(2);
const section = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^(?=## )/m)
  .find((text) => text.startsWith(`## ${version} `));

if (tag !== `v${version}`) fail(`the tag is ${tag}, and package.json has ${version}`);
else if (section === undefined) fail(`CHANGELOG.md has no section "## ${version} (DATE)"`);
else console.log(section.replace(/^.*\n+/, '').trimEnd());

function fail(why: string): void {
  console.error(`No release: ${why}.`);
  process.exitCode = 1;
}
