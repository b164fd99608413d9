import { help, helpOf } from './commands/help.ts';
import { readBuildInfo } from './app/build-info.ts';

// Shows help and version on an older Node.js; the imports above need no newer syntax.
const words = process.argv.slice(2);
const { version, revision, nodeVersion } = readBuildInfo(process.env);
const command = words.find((word) => helpOf.has(word)) || '';
const text = helpOf.get(command) || help;
process.stdout.write(
  `${words.includes('--version') ? `zlb-exporter ${version} (revision ${revision}, Node.js ${nodeVersion})` : text}\n`,
);
